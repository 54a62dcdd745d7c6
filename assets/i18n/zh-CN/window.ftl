# 页面之外：操作、各栏、消息、提问。

app-name = Pointillist

## 操作：按钮上的字，以及它做什么。

action-open = 打开…
action-open-tip = 选择一个 CSV 或 Parquet 文件
action-close = 关闭数据表
action-close-tip = 放下当前数据表；正在进行的训练不受影响
action-save-schema = 保存结构
action-save-schema-tip = 把结构写在数据旁边，名为 NAME.schema.toml
action-accept-all = 接受全部建议
action-accept-all-tip = 让所有建议生效：允许使用，并在证书上列为“不受保护”
action-start = 开始
action-start-tip = 预留预算，按此方案训练
action-pause-or-resume = 暂停或继续
action-pause-or-resume-tip = 在当前一步之后暂停最近的训练，或让它继续
action-stop = 停止…
action-stop-tip = 提前结束最近的训练；会先说明后果
action-export = 导出
action-export-tip = 写出合成数据表及其证书、配方和生成器
action-log = 日志
action-log-tip = 显示或隐藏所有报告过的消息
action-theme = 浅色或深色
action-theme-tip = 在浅色和深色主题之间切换
action-language = 语言
action-language-tip = 更换语言
action-zoom-in = 放大
action-zoom-in-tip = 放大文字和控件，最多 300 %
action-zoom-out = 缩小
action-zoom-out-tip = 缩小文字和控件
action-zoom-reset = 原始大小
action-zoom-reset-tip = 文字和控件恢复为 100 %
action-reset-layout = 重置布局
action-reset-layout-tip = 把每个面板放回原处
action-palette = 全部操作…
action-palette-tip = 按名称查找操作

page-data = 数据
page-data-tip = 数据表，以及关于它的公开知识
page-train = 训练
page-train-tip = 制定方案并观看训练
page-export = 导出
page-export-tip = 写出合成数据
page-privacy = 隐私
page-privacy-tip = 花费的预算，逐条列出

## 各栏

state-empty = 还没有内容
state-ready = 就绪
state-running = 进行中
state-done = 已完成
state-attention = 需要您处理
top-dataset = { $name } · { $rows } 行 × { $columns } 列 · 隐私单位：{ $unit } · { $relation }
unit-row = 一行
unit-person = 一个人（{ $column }，最多 { $rows } 行）
relation-add-remove = 增加或删除一个
relation-zero-out = 清空一个
relation-replace = 替换一个
device-name = 计算设备
device-tip = 在哪里计算；下一次训练生效
device-flex = CPU · flex
device-ndarray = CPU · ndarray
device-wgpu = GPU · wgpu
budget-label = 预算
budget-name = 此数据集的隐私预算
budget-open = 打开隐私页面
budget-spent = 已用 { $share }
budget-reserved = 预留 { $share }
budget-left = 剩余 { $share }
budget-no-total = 已用 ε { $spent } · 未设总额
budget-no-total-reserved = 已用 ε { $spent } · 预留 { $reserved }
budget-public = 教学数据 · 已用 ε { $spent }
budget-charge = ε = { $epsilon }，δ = { $delta }
budget-tip = 已结算的任务合计不超过 { $spent }。每一条见隐私页面。
method-dpgan = DPGAN
method-gan = GAN
no-dp-claim = 无差分隐私保证
run-queued = 等待空闲的核心
run-preparing = 正在编码数据、预留预算
run-stopping = 当前一步之后结束
run-paused = 暂停于 { $steps }
run-steps = { $steps } 步
run-rate = { $rate }/秒
run-left = 剩余 { $time }
run-pause = 暂停训练
run-resume = 继续训练
run-forget = 从列表中移除此次训练；账本条目保留
jobs-none = 没有正在进行的任务。
load-reading = 正在读取
load-profiling = 正在推断类型和界限
load-checking = 正在用数据核对结构
load-cancel = 放弃读取
export-progress = 第 { $rows } 行，共 { $total } 行
export-cancel = 放弃导出；不留下任何文件
steward-only = 仅供管理员
steward-only-tip = 直接由私有数据算出，未加噪声。它不会进入证书或公开的导出；据此所做的选择会列为“未计入”。
drop-here = 松开即可打开文件
dialog-open = 打开数据表
dialog-target = 合成数据表写到
dialog-tables = 数据表

## 消息

log-title = 日志
log-close = 关闭日志
log-empty = 还没有消息。
toast-close = 关闭此消息
causes-show = 显示原因
causes-hide = 隐藏原因
event-opened = 已打开 { $name }，共 { $rows } 行
event-load-cancelled = 已放弃读取
event-schema-saved = 结构已保存
event-started = 训练已开始
event-started-entry = 整个方案已预留，账本第 { $entry } 条。
event-started-no-claim = 不带隐私保护：不扣预算，也不能作任何保证。
event-finished = 训练已结束
event-exported = 已写出 { $rows } 行合成数据
event-export-cancelled = 已放弃导出；没有留下任何文件
event-released = 已发布，账本条目 { $entry }
event-target-exists = 文件已经存在
stopped-planned = 按方案完成
stopped-by-person = 人为停止：仍按整个方案计费
stopped-budget = 预算用完，已结束
problem-load = 无法读取数据表
problem-schema = 结构需要处理
problem-train = 训练需要处理
problem-export = 导出失败
problem-release = 发布失败
problem-ledger = 账本需要处理
problem-settings = 无法保存设置
note-no-dialog = 此系统没有文件对话框：请直接输入路径。
note-one-file = 一次只能打开一个数据表：已打开第一个文件。

## 提问

stop-title = 停止这次训练吗？
stop-charge = 整个方案仍然计入预算，包括不再执行的步数。
stop-certificate = 您已看过由私有数据绘制的图，因此停止的时刻与它们有关。任何计费都无法涵盖这一点：证书会写明“停止的时刻是在看到私有图表后选定的：未计入”。
stop-instead = 若不想留下这一条，请让方案运行到底，或先暂停、以后再继续。
stop-no-claim = 这次训练没有差分隐私保证，因此不扣预算。到目前为止学到的内容会保留。
stop-keep = 继续训练
stop-confirm = 立即停止
quit-title = 训练还在进行，要关闭吗？
quit-text = 关闭后，训练在当前一步之后停止。整个方案仍然计费，已学到的内容会丢失。
quit-keep = 留下
quit-confirm = 关闭
replace-title = 替换已有的文件吗？
replace-text = 新文件全部写好之后，会替换此文件以及旁边的证书、配方和生成器。
replace-keep = 保留原文件
replace-confirm = 替换
palette-hint = 查找操作
palette-none = 没有这个名称的操作。
plot-follow = 跟随
plot-follow-tip = 重新显示整个过程并跟随
