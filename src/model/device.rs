//! Where tensors live.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

/// The kind of device that holds a run's tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// Burn's fast pure-Rust processor backend: the default.
    #[default]
    Flex,
    /// The older processor backend, kept for comparison.
    Ndarray,
    /// A graphics card through wgpu (needs the `gpu` feature and a driver).
    Wgpu,
}

/// The device asked for cannot be used on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The program was built without the backend.
    #[error("this program was built without support for graphics cards; choose the device `flex`")]
    NotBuilt,
    /// There is no adapter.
    #[error("no graphics card with a working driver was found; choose the device `flex`")]
    NoAdapter,
}

impl DeviceKind {
    /// Every kind, in the order in which a person is offered them.
    pub const ALL: [Self; 3] = [Self::Flex, Self::Ndarray, Self::Wgpu];

    /// The name used on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flex => "flex",
            Self::Ndarray => "ndarray",
            Self::Wgpu => "wgpu",
        }
    }

    /// The device of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|device| device.name() == name)
    }

    /// Opens the device, without autodiff.
    ///
    /// # Errors
    /// When the program or the machine lacks it.
    pub fn open(self) -> Result<Device, DeviceError> {
        match self {
            Self::Flex => Ok(Device::flex()),
            #[allow(deprecated, reason = "kept selectable until Burn removes it")]
            Self::Ndarray => Ok(Device::ndarray()),
            Self::Wgpu => open_wgpu(),
        }
    }
}

impl std::fmt::Display for DeviceKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Whether the numbers of tensors made on this device lie in the program's own memory, untracked: a loop over them is
/// then as good as an operation of the device.
pub(crate) fn in_memory(device: &Device) -> bool {
    #[allow(deprecated, reason = "kept selectable until Burn removes it")]
    let processors = [Device::flex(), Device::ndarray()];
    !device.is_autodiff() && processors.contains(device)
}

#[cfg(feature = "gpu")]
fn open_wgpu() -> Result<Device, DeviceError> {
    use burn::tensor::{DeviceKind as Adapter, DeviceType};
    // Opening is lazy and panics at the first operation without an adapter, so ask first.
    if Device::enumerate(DeviceType::Wgpu).into_vec().is_empty() {
        return Err(DeviceError::NoAdapter);
    }
    Ok(Device::wgpu(Adapter::DefaultDevice))
}

#[cfg(not(feature = "gpu"))]
fn open_wgpu() -> Result<Device, DeviceError> {
    Err(DeviceError::NotBuilt)
}
