//! The page's sentences, in English and in Chinese.

use crate::export::certificate::{
    CheckCost, NoClaim, NoiseKind, NotAccounted, NotProtected, Records, Resumed, Sampling, Stop,
};
use crate::num::RandomOrigin;
use crate::privacy::ledger::PrivacyUnit;
use crate::privacy::meaning::{Language, Unit};
use crate::privacy::{AccountantKind, Neighboring};

/// Says everything in one language, about one kind of unit.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub language: Language,
    /// What is hidden.
    pub hidden: Unit,
    /// What the records are.
    pub records: Records,
}

impl Words {
    /// One of two texts.
    pub fn say(self, english: &'static str, chinese: &'static str) -> &'static str {
        match self.language {
            Language::English => english,
            Language::Chinese => chinese,
        }
    }

    /// One of two texts, the first about rows and the second about images, each in both languages.
    fn of_records(self, rows: [&'static str; 2], images: [&'static str; 2]) -> &'static str {
        let [english, chinese] = self.records.choose(rows, images);
        self.say(english, chinese)
    }

    fn is_english(self) -> bool {
        self.language == Language::English
    }

    /// What stands between the items of a sentence.
    pub fn between(self) -> &'static str {
        self.say("; ", "；")
    }

    pub fn unit(self, unit: &PrivacyUnit) -> String {
        match unit {
            PrivacyUnit::Row => self
                .of_records(["one row", "一行"], ["one image", "一张图像"])
                .into(),
            PrivacyUnit::Person { .. } if self.is_english() => unit.to_string(),
            PrivacyUnit::Person { column, max_rows } => {
                format!("一个人（“{column}”列，最多 {max_rows} 行）")
            }
        }
    }

    /// A number of records.
    pub fn count(self, records: u64) -> String {
        let name = self.of_records(["rows", "行"], ["images", "张图像"]);
        format!("{records} {name}")
    }

    pub fn relation(self, relation: Neighboring) -> &'static str {
        match relation {
            Neighboring::AddRemoveOne => self.say(
                "one unit more or less (add/remove one)",
                "多一个或少一个单位（增加或删除一个）",
            ),
            Neighboring::ZeroOutOne => self.say(
                "one unit's contribution made zero; the number of units is public (zero out one)",
                "一个单位的贡献清零；单位的数目是公开的（清空一个）",
            ),
            Neighboring::ReplaceOne => self.say(
                "one unit exchanged for another (replace one)",
                "一个单位换成另一个（替换一个）",
            ),
        }
    }

    pub fn accountant(self, accountant: AccountantKind) -> &'static str {
        match accountant {
            AccountantKind::Pld => self.say("privacy loss distributions", "隐私损失分布"),
            AccountantKind::Rdp => self.say("Rényi divergences", "Rényi 散度"),
        }
    }

    pub fn random(self, origin: RandomOrigin) -> String {
        match origin {
            RandomOrigin::OperatingSystem => self.say("from the operating system", "来自操作系统").into(),
            RandomOrigin::Seeded(seed) if self.is_english() => {
                format!("from the fixed seed {seed}: not private")
            }
            RandomOrigin::Seeded(seed) => format!("来自固定种子 {seed}：不具隐私性"),
        }
    }

    pub fn sampling(self, sampling: Sampling) -> &'static str {
        match sampling {
            Sampling::Poisson if self.hidden == Unit::Person => self.say(
                "each person, with all rows that count, entered each step by their own coin (Poisson)",
                "每个人连同其计入的各行，各自独立地以抛硬币的方式进入每一步（泊松采样）",
            ),
            Sampling::AllRows => self.of_records(
                ["every mechanism saw all rows", "每个机制都看到全部数据行"],
                ["every mechanism saw all images", "每个机制都看到全部图像"],
            ),
            Sampling::Poisson => self.of_records(
                [
                    "each row entered each step by its own coin (Poisson)",
                    "每一行各自独立地以抛硬币的方式进入每一步（泊松采样）",
                ],
                [
                    "each image entered each step by its own coin (Poisson)",
                    "每张图像各自独立地以抛硬币的方式进入每一步（泊松采样）",
                ],
            ),
            Sampling::FixedSize => self.say(
                "batches of a fixed size, drawn anew for each step",
                "固定大小的批，每一步重新抽取",
            ),
            Sampling::Shuffled => self.say(
                "shuffled passes, without amplification",
                "打乱后依次经过，不计放大",
            ),
            Sampling::RowDraws => self.of_records(
                ["each generated row drew its critic", "每个生成的行各自抽取判别器"],
                [
                    "each generated image drew its critic",
                    "每张生成的图像各自抽取判别器",
                ],
            ),
            Sampling::RoundRobin => self.say("critics on a public rota", "判别器按公开的次序轮流"),
        }
    }

    pub fn noise(self, kind: NoiseKind) -> &'static str {
        match kind {
            NoiseKind::FloatingPointGaussian => {
                self.say("Gaussian, in floating-point numbers", "浮点数的高斯噪声")
            }
            NoiseKind::DiscreteGaussian => self.say("discrete Gaussian on a grid", "网格上的离散高斯噪声"),
            NoiseKind::DiscreteLaplace => self.say("discrete Laplace on a grid", "网格上的离散拉普拉斯噪声"),
            NoiseKind::Exponential => self.say("selection by the exponential mechanism", "用指数机制选取"),
        }
    }

    /// How often the work was taken up again, and what that did to the account.
    pub fn resumed(self, resumed: Resumed) -> String {
        let Resumed { times, lost_steps } = resumed;
        match self.language {
            Language::English => format!(
                "{times} × after the program was cut short; {lost_steps} steps that may have been lost with it are charged, and the work ended as many steps earlier"
            ),
            Language::Chinese => format!(
                "程序中断后继续 {times} 次；可能随之丢失的 {lost_steps} 步已计费，训练相应地提前同样多步结束"
            ),
        }
    }

    pub fn stop(self, stop: Stop) -> &'static str {
        match stop {
            Stop::Planned => self.say("as planned", "按方案完成"),
            Stop::BudgetReached => self.say("the budget was used up", "预算已用完"),
            Stop::Milestone => self.say(
                "at a milestone of the plan, chosen by released quantities",
                "在方案的里程碑处，由已发布的量选定",
            ),
            Stop::ByPerson => self.say(
                "stopped by a person; the whole plan is charged",
                "由人停止；按整个方案计费",
            ),
        }
    }

    pub fn not_protected(self, item: &NotProtected) -> String {
        match item {
            NotProtected::AcceptedDomain { column } if self.is_english() => {
                format!("bounds or values of the column \"{column}\": read off the private data and let stand")
            }
            NotProtected::AcceptedDomain { column } => {
                format!("“{column}”列的界限或取值：由私有数据读出并被接受")
            }
            NotProtected::AcceptedForm => self
                .say(
                    "how the private file is read (its encoding, its delimiter): found in the file and let stand",
                    "私有文件的读取方式（编码、分隔符）：由文件识别并被接受",
                )
                .into(),
            NotProtected::RowCount => self
                .of_records(
                    [
                        "the number of rows: used as it is, and revealed by the sampling rate",
                        "行数：原样使用，并由采样率透露",
                    ],
                    [
                        "the number of images: used as it is, and revealed by the sampling rate",
                        "图像的数目：原样使用，并由采样率透露",
                    ],
                )
                .into(),
            NotProtected::PersonCount => self
                .say(
                    "the number of persons: used as it is, and revealed by the sampling rate",
                    "人数：原样使用，并由采样率透露",
                )
                .into(),
            NotProtected::FloatingPointNoise => self
                .say(
                    "the lowest digits of floating-point noise, which the proofs take to be real numbers",
                    "浮点噪声的最低位：证明中把它们当作实数",
                )
                .into(),
        }
    }

    pub fn not_accounted(self, item: NotAccounted) -> &'static str {
        match item {
            NotAccounted::Tuning => self.say(
                "settings may have been chosen with private figures of earlier runs in view",
                "设置可能是在看到先前训练的私有数字之后选定的",
            ),
            NotAccounted::Looking => self.say(
                "figures computed on the private data without noise were shown while it trained",
                "训练期间显示了由私有数据算出、未加噪声的数字",
            ),
            NotAccounted::CheckpointChoice => self.say(
                "the checkpoint was chosen with private figures in view",
                "在看到私有数字之后选定了检查点",
            ),
            NotAccounted::MomentOfStopping => self.say(
                "the moment of stopping was chosen with private plots in view: not accounted",
                "停止的时刻是在看到私有图表后选定的：未计入",
            ),
        }
    }

    pub fn check_cost(self, cost: CheckCost) -> &'static str {
        match cost {
            CheckCost::Free => self.say("from released values", "由已发布的值得出"),
            CheckCost::Bought => self.say("paid for, among the events", "已付费，列在事件中"),
        }
    }

    pub fn no_claim(self, reason: &NoClaim) -> String {
        if self.is_english() {
            return reason.to_string();
        }
        match reason {
            NoClaim::MethodWithoutPrivacy => "该方法不作任何承诺".into(),
            NoClaim::NoEvents => "没有说明对私有数据做了什么".into(),
            NoClaim::NoFiniteEpsilon => "这些事件得不出有限的 ε".into(),
            NoClaim::NoUnit => "缺少隐私单位".into(),
            NoClaim::NoRelation => "缺少相邻关系".into(),
            NoClaim::OtherRelation => "相邻关系与事件的不一致".into(),
            NoClaim::NoDomain => "缺少各列及其来源".into(),
            NoClaim::NoProvenance { column } => format!("没有人说明“{column}”列的界限或取值从何得知"),
            NoClaim::Suggested { column } => format!("“{column}”列的界限或取值由私有数据读出"),
            NoClaim::NoSampling => "缺少采样方式".into(),
            NoClaim::OtherSampling { event } => format!("事件 {event} 引用的采样方式与实际不符"),
            NoClaim::NoRandomSource => "缺少随机数的来源".into(),
            NoClaim::Seeded => "随机数来自固定种子".into(),
        }
    }
}
