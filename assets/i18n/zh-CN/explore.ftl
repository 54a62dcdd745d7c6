# 探索：在花费任何预算之前，看清它能换来什么。

page-explore = 探索
page-explore-tip = 在花费预算之前看清它能换来什么，并发布隐私统计量

## 问题

explore-question = 问题
explore-mechanism = 机制
explore-cell = 图中所示
explore-relation = 相邻关系
explore-reading = 正在读取数据行…
explore-search = 这项查找会得到什么事先并不知道，因此没有图可画。左侧列出了它的代价。
explore-free = 看图不花费预算：在您发布之前，没有任何内容离开这个窗口。
explore-compare-only = 这种机制只供比较。请选择一种离散机制来发布：它不会因舍入而泄露信息。
explore-delta-unused = 所选机制不花费 δ；其他曲线按此 δ 绘制。
explore-delta-zero = 高斯机制需要大于 0 的 δ：请调高 δ，或选择拉普拉斯噪声。
explore-no-noise = 在这个 ε 和 δ 下无法抽取这种噪声：请选择另一个 ε。
mechanism-laplace = 拉普拉斯
mechanism-discrete-laplace = 离散拉普拉斯
mechanism-textbook-gaussian = 高斯（教科书公式）
mechanism-analytic-gaussian = 高斯（解析）
mechanism-discrete-gaussian = 离散高斯
mechanism-exponential = 指数机制
mechanism-randomized-response = 随机应答
mechanism-compared = { $mechanism }（供比较）

## 敏感度

sensitivity-part = { $what }的敏感度 { $sign } = { $amount }：{ $why }。
sensitivity-bounds = 界限 { $lower } 至 { $upper }，{ $source }。
sensitivity-shared = 答案由 { $count } 个带噪声的数组成，ε 在它们之间平分。
sensitivity-mode = 一个取值的得分敏感度 = { $delta }：一个单位最多使其出现次数改变这么多行。
sensitivity-rank = 一个候选值的得分敏感度 = { $delta }：一个单位最多使其移动这么多名次。
sensitivity-unit = 单位：{ $unit }；相邻关系：{ $relation }。
summed-count = 计数
summed-values = 总和
summed-distances = 与界限中点之距离
summed-squares = 距离平方
reason-appears = { $rows ->
    [one] 一行出现或消失
   *[other] 最多 { $rows } 行出现或消失
 }
reason-emptied = { $rows ->
    [one] 一行被清空
   *[other] 最多 { $rows } 行被清空
 }
reason-replaced = { $rows ->
    [one] 一行改为任意其他取值
   *[other] 最多 { $rows } 行改为任意其他取值
 }
reason-moves = { $rows ->
    [one] 一行离开一个格子并进入另一个
   *[other] 最多 { $rows } 行离开各自的格子并进入其他格子
 }
bounds-declared = 已声明为公开知识
bounds-bought = 用预算购得
bounds-accepted = 从数据行读出并被接受：不受保护
bounds-open = 尚未决定

## 由误差求 ε

explore-inverse = 反过来问
explore-swamped = 在这个 ε 下，噪声与所求的量一样大。
explore-swamped-always = ε 增大到 10 也无法改变：请问得更粗一些，或针对更多的行。
explore-use = 采用 ε = { $epsilon }
explore-empty = 这里没有可统计的取值，发布的只会是噪声。
explore-fit = { $count ->
    [0] 剩余的总预算容不下这样的问题。
   *[other] 剩余的总预算还容得下 { $count } 个这样的问题。
 }
explore-fit-no-total = 这个数据集还没有总预算，因此问题的个数不受限制。
explore-set-total = 设定总预算

## 图

picture-utility = 噪声与效用
picture-noise = 噪声与答案
picture-histogram = 直方图对照
picture-rows = 行数
picture-several = 多个问题
picture-runs = 训练
picture-released = 已发布
picture-utility-lead = 在此 δ 下，答案的误差随 ε 的变化
picture-noise-lead = 发布的答案会落在哪里
picture-histogram-lead = 各取值，以及发布时的样子
picture-rows-lead = 同样的 ε，行越多误差越小
picture-runs-lead = 本次会话的训练按 ε 排列：合成行与真实行相距多远
measure-name = 度量
measure-expected = 期望误差
measure-rms = 均方根误差
measure-within = 落在 ±a 以内的概率
measure-tolerance = a
utility-caption = 线：闭式公式 · 点：200 次真实抽样
utility-caption-ratio = 线：一阶闭式公式 · 点：200 次真实抽样
utility-draws = 真实抽样
utility-handle = 图上的 ε
utility-here = ε = { $epsilon }：误差 ±{ $error }（95 %）
utility-here-within = ε = { $epsilon }：{ $chance } 落在 ±{ $a } 以内
noise-density = 答案周围的噪声
noise-answers = 带噪声的答案
noise-truth = 真实答案 { $value }
band-50 = 50 %
band-95 = 95 %
histogram-true = 真实值
histogram-noisy = 发布时的样子
histogram-by = 发布时的样子（{ $mechanism }）
histogram-none = 这一列没有直方图：它的界限或取值尚未决定，或者问题没有列。
rows-here = 此处 { $rows } 个取值
several-count = 问题个数
several-count-help = 提出多少个这样的问题
several-parallel = 针对互不相交的部分
several-parallel-tip = 每个问题针对数据行的另一部分；各部分事先确定，一行只属于其中一个
several-public = 此处没有任何内容取自数据行
several-sum = 相加
several-rdp = Rényi
several-pld = 损失分布
several-totals = { $count } 个问题，每个 ε = { $epsilon }：相加得 ε = { $sum }，按 Rényi 散度为 { $rdp }，按损失分布为 { $pld }（δ = { $delta }）。
several-split = 要使全部 { $count } 个问题不超过 ε = { $epsilon }：按相加，每个可用 ε = { $sum }；按 Rényi 散度，每个可用 { $rdp }；按损失分布，每个可用 { $pld }。
several-delta = 相加时，各问题的 δ 也要相加；另外两种按全部问题合用此 δ 计算。
several-bins = 一个直方图是一个问题：一行只在一个区间里。
several-none = 在这个 ε 和 δ 下无法组合这种机制。
runs-none = 本次会话中还没有针对此表的训练结束。每次训练都会成为这里的一个点：它的 ε，以及合成行与真实行相距多远。
runs-private = 有隐私保护的训练
runs-open = 无隐私保护
runs-note = 编码空间中的 Fréchet 距离，两侧各取 { $samples } 行：只可比较同一张表上的训练。

## 坐标轴

axis-epsilon = ε（对数）
axis-expected = 期望误差，{ $unit }
axis-rms = 均方根误差，{ $unit }
axis-within = 落在 ±{ $a } 以内的概率
axis-distance = 与真实答案之差，{ $unit }
axis-chance = 概率
axis-density = 密度
axis-rank-share = 95 % 下偏离的名次，占取值个数的比例
axis-per-row = 每行的期望误差
axis-row-share = 期望误差占行数的比例
axis-rows = 行数（对数）
axis-total = 全部的 ε（δ = { $delta }）
axis-questions = 问题个数
axis-frechet = Fréchet 距离
unit-in-rows = 行
unit-in-days = 天
unit-in-days-squared = 天的平方
unit-in-seconds = 秒
unit-in-seconds-squared = 秒的平方
unit-in-column = { $column } 的单位
unit-in-column-squared = { $column } 的单位的平方

## 已发布的内容

released-save = 保存列表…
released-save-tip = 将本次会话发布的全部统计量存为表格：按文件扩展名为 CSV 或 Parquet
released-save-title = 保存已发布的内容
