# 引擎所说的话。英文写在代码中事情发生的地方；这里按键给出中文。

## 位置与词语

place-header = 标题行第 { $column } 列
place-cell = 第 { $row } 行（文件第 { $line } 行）的“{ $column }”列
place-utf16 = 文件（UTF-16 编码）
place-schema = 结构
place-the-schema = 结构文件
place-line = { $source } 第 { $line } 行
in-column = “{ $column }”列：{ $message }
a-whole-number = 整数
a-number = 数
a-date = 符合该列格式的日期
a-time = 符合该列格式的时间
a-datetime = 符合该列格式的日期和时间
range-integer = { $min } 到 { $max } 之间的整数
range-real = { $min } 到 { $max } 之间的数
range-choice = 以下之一：{ $names }
range-numbers = 2 到 { $most } 个数，每个在 { $min } 到 { $max } 之间
range-widths = 最多 { $layers } 个层宽，每个在 1 到 { $width } 之间
unit-range = { $unit } 的取值应为 { $range }，而不是 { $value }
open-column = “{ $column }”（{ $why }）
identifier-unique = 每行取值都不同
identifier-record-number = 记录编号
identifier-email = 电子邮件地址
identifier-phone = 电话号码
identifier-national-id = 身份证件号码
identifier-card-number = 银行卡号或账号
identifier-name = 姓名
identifier-address = 地址
identifier-key = 机器生成的键

## 读取数据

data-not-found = { $path }：没有这个文件；请检查路径
data-read-back = { $folder }：存放在那里的数据行无法读回（{ $reason }）；请检查磁盘
data-spill = { $folder }：写入 { $megabytes } MB 后无法继续存放内存放不下的数据行；请在该磁盘上腾出空间，或把 POINTILLIST_HOME 设到另一个磁盘上的文件夹
store-unreadable = { $folder }：存放在那里的编码行无法读回（{ $reason }）；请检查磁盘
data-io = { $path }：无法读写（{ $reason }）
data-empty = { $path }：文件是空的；需要一行列名和至少一行数据
data-no-rows = { $path }：只有标题行，下面没有数据
data-ragged-row = { $path }：第 { $row } 行（文件第 { $line } 行）有 { $found } 个字段，标题行有 { $expected } 个；请给含有分隔符“{ $delimiter }”的值加上引号，或修正这一行
data-not-utf8 = { $path }：{ $place }不是 UTF-8 文本；请指明文件的编码，或把文件另存为 UTF-8（电子表格中选“CSV UTF-8”）再重新打开
data-not-in-encoding = { $path }：第 { $line } 行不是 { $encoding } 文本；请选择文件保存时所用的编码
data-unclosed-quote = { $path }：第 { $row } 行（文件第 { $line } 行）的引号没有闭合；请补上，或指明文件使用别的引号
data-record-too-long = { $path }：从文件第 { $line } 行开始的一行超过 { $most } 兆字节；可能有引号没有闭合，或者文件不是数据表
data-corrupt-file = { $path }：{ $kind } 文件已损坏或不完整（{ $reason }）；请重新获取一份
data-unpacks-to-too-much = { $path }：解压后超过自身大小的 { $ratio } 倍，数据表不会如此；若确实如此，请先解压再打开
data-locked = { $path }：另一个程序锁定了它；请在那里关闭它，或等它完成后重新打开
data-unfinished = { $path }：旁边有一次未完成写入的日志；请先用写它的程序打开一次，让它恢复正常，再在这里打开
data-broken-part = { $path }：无法读取“{ $part }”：{ $reason }；请指定另一个表，或用创建它的程序修复它
data-too-large = { $path }：第 { $row } 行，列“{ $column }”：{ $value } 超过可读取的最大整数 9223372036854775807；请把该列保存为文本或浮点数
data-changed = { $path }：读取期间文件发生了变化；请等它完整后重新打开
form-no-delimiter = 分隔符应为一个字符，这里没有
form-same-mark = { $key } 与 { $other } 是同一个字符；请各用一个
form-bad-mark = { $key } 不能是字母、数字、空格或换行
data-duplicate-column = { $path }：列名“{ $column }”出现了两次（第 { $first } 列和第 { $second } 列）；每列需要自己的名称
data-unnamed-column = { $path }：第 { $position } 列没有名称；文件的第一行必须给出每一列的名称
data-no-part = { $path }：其中没有{ $kind }；请选择另一个文件
data-sheet = { $path }：{ $message }
sheet-no-result = 单元格 { $cell } 含有公式，但文件中没有保存结果；请在电子表格程序中打开并保存该文件，再重新打开
sheet-beside = 单元格 { $cell } 在表格之外，表格的列名在第 { $header } 行；第一个非空行必须给出所有列名：请删除表格上方或旁边的内容
sheet-merged = 单元格 { $first } 到 { $last } 已合并，因此只有第一个有值；请取消合并，为每一行填上它的值，然后保存文件
data-other-part = { $path }：其中没有名为“{ $wanted }”的{ $kind }；请指定以下之一：{ $parts }
data-sheets-not-tables = { $path }：这是工作簿，其中是工作表而不是表；请改为指定工作表（`--sheet { $wanted }`）
data-tables-not-sheets = { $path }：这是数据库，其中是表而不是工作表；请改为指定表（`--table { $wanted }`）
data-nul-in-text = { $path }：第 { $line } 行含有 NUL 字符，文本中不会有；文件已损坏或不是文本：请重新获取一份，或去掉这些字符
data-bytes-column = { $path }：“{ $column }”列是字节，不是数据表的值；只有 Parquet 列中的 PNG、JPEG、TIFF 文件会作为图像读取：请去掉该列，或另存为文本
data-unsupported-column = { $path }：“{ $column }”列的类型是 { $found }；只能读取由数、文本、布尔、日期和时间组成的平面列：请去掉或展开该列
data-schema = { $place }：{ $message }
data-mismatch = 结构与数据不符：{ $message }
data-cell = “{ $column }”列第 { $row } 行：{ $message }
data-no-columns = 没有剩下任何列：全部是标识或文本，都会被丢弃；请在结构中至少给一列换一种类型
evaluate-no-images = { $path }：其中没有图像，目前只能比较图像
data-images = { $path }：这些图像无法使用（{ $message }）
image-classes-accepted = 类别的名称是从数据中读出的，会列为不受保护；在结构中声明它们即可改变
image-label-unknown = “{ $label }”不是结构中的类别；请在结构中加上它，或改正标签
data-encoded = 编码后的行不属于这个结构：{ $message }
not-a-table-zip = { $path }：这是压缩包而不是 Excel 工作簿，不是数据表；请先解压，或把工作表另存为 .xlsx 或 CSV
not-a-table-office = { $path }：这是旧式或带密码的电子表格或文档，不是数据表；请把工作表另存为不带密码的 .xlsx 或 CSV
not-a-table-packed-twice = { $path }：这是压缩包里的压缩包，不是数据表；请先解压
not-a-table-pdf = { $path }：这是 PDF 文档，不是数据表；请选择 CSV 或 Parquet 文件
not-a-table-picture = { $path }：这是图片，不是数据表；请选择 CSV 或 Parquet 文件
not-a-table-feather = { $path }：这是第一版 Feather 文件；请另存为 Arrow（Feather 2）、Parquet 或 CSV
not-a-table-binary = { $path }：这是二进制文件，不是数据表；请选择 CSV 或 Parquet 文件
not-a-table-parquet = { $path }：名称是 Parquet，内容却不是；请重新获取一份，若是文本请改名为 .csv
not-a-table-special = { $path }：这是管道或设备，不是数据表；请把内容写入文件再选择
not-a-table-folder = { $path }：这是文件夹，不是数据表；请选择其中的 CSV 或 Parquet 文件

## 推断

profile-identifier = 很可能是标识（{ $reason }）：建议丢弃；要保留请换一种类型
profile-free-text = 自由文本：已丢弃，因为这里无法合成
profile-many-values = 有 { $count } 种取值：作为分类太多，因此按文本处理并丢弃
profile-all-missing = 没有一个单元格有值：已丢弃
profile-constant = 所有单元格的值都相同
profile-mostly-missing = { $percent } % 的单元格缺失
profile-format-misfit = 并非每个单元格都符合格式 { $format }；请另选格式，或把表示缺失的文字加入缺失写法
profile-infinite = 无穷大的单元格：{ $count } 个；各取较近的界；若它们表示缺失，请在文件中写成缺失
profile-beyond-calendar = 超出日历（0000 至 9999 年、一天之内的时刻）的单元格：{ $count } 个；各取较近的界
profile-no-bounds = 没有建议的界：取值相距太远，或超出这里的数所能表示的范围；请给出合理的界
profile-several-parts = 文件中有不止一个表：打开的是 { $chosen }，另有 { $others }
profile-ambiguous-number = 小数还是千位：{ $example } 被读作 { $first }，也可能是 { $second }；请检查该列的格式
profile-ambiguous-date = 日在前还是月在前：{ $example } 被读作 { $first }，也可能是 { $second }；请检查该列的格式
profile-header = 第一行看起来像数据；文件需要一行列名
profile-few-rows = 只有 { $rows } 行，偏少：在任何严格的 ε 下，合成数据都会与真实数据相差很大

## 结构

misfit-unnamed = 数据中有结构没有列出的列：{ $columns }；请在结构中加以说明（kind = "text" 表示丢弃）
misfit-absent = 结构列出了数据中没有的列：{ $columns }；请去掉它们，或选择正确的文件
misfit-rows = 结构说数据有 { $declared } 行，实际有 { $found } 行；请更正 rows，或去掉它
misfit-persons = 结构说“{ $column }”区分 { $declared } 个人，实际区分 { $found } 个；请更正 persons，或去掉它
misfit-no-column = 数据中没有“{ $column }”列；请从结构中去掉它，或选择含有它的文件
cell-is-missing = 单元格缺失，但结构说没有缺失；请设 missing = true，或修正数据
cell-not-in-domain = 值“{ $value }”不在取值列表中；若是公开值请加入列表，否则加入缺失的写法
cell-not-boolean = 值“{ $value }”既不是“{ $no }”也不是“{ $yes }”；请按实际写法设 domain = [假, 真]
cell-not-of-kind = “{ $value }”不是{ $kind }；请更改类型或格式，或把它加入缺失的写法
schema-no-domain = 没有公开取值的列表；请给出 domain
schema-format = 格式不能表示{ $kind }
schema-no-bounds = 没有界限；请给出 lower 和 upper
schema-empty-range = 两个界限之间没有任何值；请放宽界限
schema-version = 本程序读取第 { $known } 版的结构，而不是第 { $found } 版；请更新结构，或重新推断
schema-label-unknown = 类别列“{ $label }”不是其中的列；请写出某一列的名称
schema-label-kind = 类别列“{ $label }”的类型是{ $kind }；类别列必须是分类、布尔或整数
schema-unit-unknown = 隐私单位的列“{ $column }”不在结构中
schema-max-rows = 隐私单位的 max_rows 至少为 1
schema-rule-column = 规则“{ $rule }”提到“{ $column }”，而结构中没有这个使用的列
schema-rule-twice = 规则“{ $rule }”两次提到同一列
schema-rule-order = 规则“{ $rule }”需要两个同类的数、日期或时间
schema-rule-sum = 规则“{ $rule }”需要数值列；总和为整数时各列也须为整数
schema-rule-value = 规则“{ $rule }”提到取值“{ $value }”，而相应的列没有这个取值；两列都必须是分类列
schema-no-persons = 人数至少为 1
schema-no-rows = 行数至少为 1
schema-name-twice = 两列用了同一个名称；每列需要自己的名称
schema-no-name = 名称为空
schema-not-a-domain = 类型为{ $kind }的列有界限，没有取值列表
schema-not-bounds = 类型为{ $kind }的列有取值列表，没有界限
schema-bounds-swapped = 下界 { $lower } 高于上界 { $upper }
schema-bounds-far = 两个界限相距太远；请给出合理的界限
schema-bound-finite = 界限必须是有限的数
schema-bound-long = 界限 { $value } 超出 ±2^53；这么长的数不是数量：请把该列设为标识
schema-bound-whole = 界限 { $value } 不是整数；请取整，或把该列设为连续
schema-bound-quoted = 界限“{ $value }”必须是不带引号的数
schema-bound-iso = “{ $value }”不是 ISO 8601 写法的{ $kind }，例如“{ $example }”
schema-bound-unquoted = { $kind }的界限用带引号的 ISO 8601 写法，例如“{ $example }”
schema-value-twice = 值“{ $value }”列出了两次
schema-value-missing = 值“{ $value }”是缺失的写法；请去掉它并设 missing = true
schema-boolean-domain = 布尔列的取值列表写出假和真两种写法，这里有 { $count } 个
schema-many-values = { $count } 个取值太多（最多 { $most } 个）；请把该列设为文本
schema-log-kind = 对数尺度只用于数，不用于{ $kind }
schema-log-bound = 对数尺度需要不小于 0 的下界；请提高下界，或使用线性尺度
schema-bins-kind = 分箱只用于数，不用于{ $kind }
schema-bins-edges = 分箱至少需要两个递增的边界
schema-bins-many = 分箱超过 { $most } 个
schema-bins-whole = 整数列的分箱边界必须是整数
schema-bins-bound = 最外侧的边界 { $edge } 与界限 { $bound } 不一致
schema-decimals-kind = 小数位数只用于连续的列，不用于{ $kind }
schema-decimals-many = 位数超出双精度数的范围；请减少，或不设
schema-format-number = “{ $format }”不能表示一个数；请写成 1234.5 的样子，例如 1.234,5 或 $1,234.5
schema-format-kind = 格式只用于数、日期和时间，不用于{ $kind }
schema-format-whole = “{ $format }”不能完整表示{ $kind }；请使用 strftime 的字母，例如 %d.%m.%Y

## 方案

warning-large-delta = δ = { $delta } 不小于 1/{ $rows }：这样的 δ 允许直接公布一整行；请选择远小于 1/{ $rows } 的 δ
warning-large-delta-persons = δ = { $delta } 不小于 1/{ $persons }：这样的 δ 允许机制公开一个人的全部行；请选择远小于 1/{ $persons } 的 δ
warning-large-epsilon = ε = { $epsilon } 是很弱的承诺：它对最坏情况下攻击者所知的限制很宽松
warning-batch-lowered = 期望批大小已由 { $asked } 降到 { $used } 行，即全部的行数
warning-batch-lowered-persons = 期望批大小由 { $asked } 降为 { $used } 人，即全部人数
warning-rows-revealed = 行数没有声明为公开，但采样率会透露它：行数不受保护
warning-persons-revealed = 人数没有声明为公开，但采样率会透露它：人数不受保护
warning-limited-rows = 每个人最多计入 { $rows } 行，行数更多的人随机抽取这么多行；没有注明个人的行不使用
warning-few-rows = 只有 { $rows } 行时，噪声会掩盖列与列之间的大部分关系；单个列可以信赖，其余不多
warning-few-persons = 只有 { $persons } 个人时，噪声会盖过列与列之间的大部分关系；可以期望单列正确，但不多于此
warning-not-private = 此方法不作任何隐私保证：用它得到的结果请不要外传
plan-epsilon = ε 为 { $value }；应大于 0 且不超过 { $most }（若完全不要隐私保护，请选择 GAN）
plan-delta = δ 为 { $value }；应大于 0 且小于 1，并且远小于行数的倒数
plan-budget-too-small = ε = { $epsilon } 的预算不够这个方案走一步；可行的最小值是 ε = { $smallest }
plan-shares = 边缘分布和精细直方图占用了 { $share } 的预算；请至少给判别器留 0.05
plan-open-columns = 还有列需要您决定：{ $columns }
plan-rows-suggested = 结构中的行数或人数只是由私有数据读出的建议；请声明它、购买它，或从结构中去掉它（这样它会列为不受保护）
plan-nothing-to-learn = 没有可学习的列：全部是标识或文本；请在结构中至少更改一列的类型
plan-many-cells = 列对将有 { $cells } 个单元，最多只能统计 { $most } 个；请减少分箱、去掉取值很多的列，或选择 dpgan 方法
plan-large-embedding = 对 { $width } 个编码列取 { $frequencies } 个频率的均值嵌入将占用半个 GB 以上的内存；请减少频率数或分箱，或去掉取值很多的列
plan-no-rows = 数据表没有可学习的行
plan-label = 类别列“{ $label }”不是参与训练的分类列；请指定分类列或布尔列，或不设
plan-method = 方法“{ $method }”不能用于这种数据（{ $data }）；请选择 { $instead }
plan-unit = 结构把“{ $column }”设为隐私单位，而图像没有这样的列；请去掉 unit，以保护单独的图像
plan-calibration = 无法校准方案的噪声
plan-range = 方案中的数彼此不合
advice-gem = 推荐 GEM：一次看数据，得到各列取值成对的计数，每个计数的噪声约 { $noise } 行，由此知道列与列的关系；此后一切不再花费
advice-dpgan-few = 推荐 DPGAN：只有 { $rows } 行，而每对取值的计数噪声约 { $noise } 行，大多会被淹没
advice-dpgan-few-persons = 推荐 DPGAN：只有 { $persons } 个人，每对列取值的计数带有 { $noise } 行的噪声，会淹没其中大部分
advice-dpgan-wide = 推荐 DPGAN：这张表的取值太多，无法统计列对的计数
inverse-no-noise = 这个方案没有这种噪声
inverse-too-little = 即使 ε = { $most }，噪声仍有 { $least }；请至少给这么多
setting-out-of-range = “{ $setting }”为 { $value }；应为{ $expected }
setting-unknown = 没有名为“{ $name }”的设置
calibration-too-small = 预算太小：可行的最小 ε 是 { $smallest }
calibration-delta-zero = δ 必须大于 0：高斯噪声不能给出纯粹的保证
accounting-parameter = { $event } 的 { $parameter } 应为 { $range }，而不是 { $value }
accounting-unprovable = 在“{ $relation }”下，{ $event } 没有 { $accountant } 的证明：{ $reason }
accounting-relation = “{ $list }”下的事件不能由“{ $accountant }”的会计合成
accounting-epsilon = ε 不能小于 0，这里是 { $value }

## 训练

say-cancelled = 已取消
say-run-no-table = 请先打开数据表，再开始训练
say-never-started = 训练在等待核心时被停止；没有花费预算
say-memory = 这次训练约需 { $needed } GB 内存，而可用的只有 { $free } GB：请选择更窄的层、更小的批次或更少的频率，或关闭其他程序
say-thrown-away = 已按您的要求丢弃：没有计费，而后来的证书会计入这次训练
say-clamped-one = 有 1 个数超出公开界限，按最近的界限计（仅供管理员）
say-clamped = 有 { $cells } 个数超出公开界限，按最近的界限计（仅供管理员）
say-no-ledger = 账本无法使用，因此不能花费预算；原因见日志
say-whole-plan = 训练 { $run } 的账目仍按整个方案计：{ $reason }
say-fault = 程序出现故障，请报告：{ $words }
refused-over-budget = 下一个事件会使 ε 达到 { $epsilon }，超出预算 { $budget }
refused-accounting = 下一个事件无法计入账目
sample-column = 不能对“{ $column }”设条件：请指定结构中的分类列或布尔列
sample-value = “{ $column }”从不取“{ $value }”；它的取值是 { $known }
sample-rules = 生成的 { $drawn } 行中，即使修正后也只有 { $found } 行满足结构中的规则，不足以凑齐 { $wanted } 行；请放宽规则所涉各列的界限，或去掉一条规则
sample-too-rare = 生成的 { $drawn } 行中只有 { $found } 行满足“{ $column }”=“{ $value }”，不足以凑齐 { $wanted } 行
sample-arrow = 无法把生成的行合在一起
train-other-rows = 方案针对宽度为 { $width } 的 { $planned } 行，这里是宽度为 { $other } 的 { $found } 行
train-refused = 预算不允许方案自己的发布
train-not-finite = 到第 { $step } 步时网络中的数不再有限：请降低学习率后重新开始（已花费的不会退回）
train-sample = 无法从生成器抽取数据行
train-other-checkpoint = 检查点不属于这个方案：{ $reason }
train-keep = 无法保留这次训练
train-keep-neither = 既不能写步数日志，也不能删除检查点，因此训练在此结束：以后继续的话，花费可能超过已计费的数额
train-left = 训练停在第 { $step } 步，以后可以继续
journal-no-space = { $path }：磁盘已满，无法写步数日志；请在那里腾出空间
journal-io = { $path }：步数日志无法使用
journal-held = { $path }：这次训练正在另一个程序中进行；请先结束那边
journal-damaged = { $path }：步数日志已损坏，无人知道走过多少步
say-not-announced = 训练继续，但如果程序中断就不能再继续它：步数日志无法写入（{ $reason }）
say-name-not-kept = 程序结束后训练的名称不会保留：{ $reason }
say-not-kept = 训练继续，但第 { $step } 步的状态未能保存：{ $reason }
say-curves-damaged = 曲线文件已损坏
say-curves-lost = 训练继续，但它的曲线从第 { $step } 步开始：{ $reason }
say-not-kept-at-all = 训练继续，但如果程序中断就不能再继续它：{ $reason }
say-schema-unwritable = 数据结构无法写出
say-other-program = 这次训练由程序的 { $version } 版开始；请用那个版本继续（已预留的仍然计费）
say-other-data = “{ $name }”不是这次训练所学的数据：内容已变；请把文件恢复原样，或丢弃这次训练（已预留的仍然计费）
say-end-not-kept = 如果程序在导出之前中断，这次训练所学到的内容就会丢失：{ $reason }
say-other-end = 账本第 { $entry } 条不是这次训练，因此不能继续它；请丢弃它
say-other-plan = 账本第 { $entry } 条不是这个方案的未结预留，因此不能继续这次训练；请丢弃它
say-device-missing = 设备“{ $device }”无法使用，因此训练改用 `flex`：{ $reason }
say-device-lost = 设备“{ $device }”出现故障，训练在同一预留下从最近的检查点改用 `flex` 继续：{ $reason }
say-device-lost-later = 设备“{ $device }”出现故障；训练可以从最近的检查点用 `flex` 继续：{ $reason }
say-no-checkpoint = 它在第一个检查点之前就中断了，没有可以接着进行的内容：请将其丢弃
say-no-interrupted = 没有名为“{ $name }”的中断训练；`runs list` 会列出全部
train-thread = 无法启动比较数据的线程
device-not-built = 本程序不含显卡支持；请选择设备 flex
device-no-adapter = 没有找到驱动正常的显卡；请选择设备 flex
engine-thread = 无法启动线程；请关闭其他程序后重试
engine-no-home = 不知道程序数据应放在哪里；请设置 POINTILLIST_HOME
engine-empty-home = POINTILLIST_HOME 已设置但为空；请设为一个文件夹，或取消该变量以使用默认文件夹
engine-home = { $path }：无法建立程序的文件夹；请把 POINTILLIST_HOME 设为可写的位置
settings-io = { $path }：无法保存设置；请检查文件夹是否存在、是否可写
settings-malformed = { $path }：不是设置文件；已采用默认设置，文件保持不变

## 打开与保存

say-no-identity = 账本不认识打开的数据表；请重新打开
say-schema-no-table = 没有打开的数据表，无法更改结构
say-save-no-table = 没有打开的数据表，无法保存结构
say-save-sample = 这个数据表随程序附带，没有所在文件夹；请为它的结构指定文件
say-no-column = 结构中没有“{ $column }”列
say-no-sample = 没有名为“{ $name }”的样例
say-version-open = 账本认识名为“{ $name }”、内容不同的数据集 { $number }：请先说明这个数据表是它的新版本（继续它的预算），还是独立的数据集（没有花费预算）
say-version-no-table = 请先打开数据表，再说明它是哪个数据集的新版本
say-total-no-table = 请先打开数据表，再设置它的总预算
say-setting-unused = 方法“{ $method }”不使用设置“{ $key }”；请去掉它
say-recipe-wrong = { $path }：无法使用此配方：{ $reason }
say-recipe-method = 不认识配方中的方法“{ $name }”；应为下列之一：{ $known }
say-other-settings = 这些设置用于另一种方法或另一类数据，与现在的不符；请去掉这些设置，或换用适合的配方
say-recipe-device = 不认识配方中的设备“{ $name }”；应为下列之一：{ $known }

## 导出

say-export-busy = 正在写出另一份数据；请等待，或取消它
say-no-generator = 训练 { $run } 没有生成器：只有已结束的训练才能导出
export-not-a-file = { $path } 是管道或设备，绝不会被替换；请换一个名称
export-left-over = { $path } 旁边有 { $left }，是同名的旧数据库留下的：打开新文件会把旧的数据行带回来；请换一个名称，或者在不再需要那个数据库时删除它
export-is-input = { $path } 是这项工作要读取的文件，绝不会被覆盖；请换一个名称
export-exists = { $path } 已经存在；请换一个名称，或允许替换
export-not-a-name = { $path } 不是文件名；请加上文件名
export-unknown-images = { $path } 不是可写的图像格式；请使用文件夹（没有后缀）、以 -images-idx3-ubyte 结尾的文件、.parquet 或 .npz
export-not-an-export = { $path } 中除了导出的图像还有别的内容，不会被替换；请换一个名称
export-unknown-ending = { $path } 的后缀不是可写的格式；请使用 .csv、.tsv、.txt、.parquet、.arrow、.xlsx 或 .sqlite
export-folder-missing = 文件夹 { $path } 不存在；请先建立，或另选一个
export-folder-read-only = 文件夹 { $path } 不能写入新文件（只读，或不属于您）；请另选一个
export-no-space = 没有空间写 { $path }；请腾出空间或换一个磁盘（没有留下任何文件）
export-no-room = { $path } 大约需要 { $needed }，而该磁盘只剩 { $free }；请减少数量，或换一个磁盘
export-write = 无法写入 { $path }（没有留下任何文件）
export-read = 无法读取 { $path }
export-not-a-certificate = { $path } 不是本程序的隐私证书：{ $reason }
export-not-a-recipe = { $path } 不是配方：{ $reason }
export-not-a-checkpoint = { $path } 不是本程序可用的检查点：{ $reason }；请丢弃该运行（`runs discard`），它所预留的仍计入花费
export-not-a-generator = { $path } 不是本程序保存的生成器：{ $reason }
export-newer = { $path } 的格式版本是 { $found }，本程序只认识到第 { $known } 版；请更新程序
export-unwritable = 无法写入 { $path }：{ $reason }

## 账本

ledger-closed = 账本已关闭；请重新启动程序
ledger-folder = 账本的文件夹 { $path } 无法使用；请把 POINTILLIST_HOME 设为您自己的文件夹
ledger-read-only = { $path } 是只读的，无法计费；请使其文件夹可写，或把 POINTILLIST_HOME 设为别处
ledger-no-space = 磁盘已满：没有空间写 { $path }；请在那里腾出空间后重试（没有写入任何内容）
ledger-locked = { $path } 正被另一个程序使用（Pointillist 的窗口或命令，或备份），等了 { $seconds } 秒仍未空闲；请等待或关闭它，然后重试（没有花费预算）
ledger-newer = { $path } 的格式版本是 { $found }，本程序只认识到第 { $known } 版；请更新程序（没有任何改动）
ledger-set-aside = { $path } 已损坏（{ $reason }），原样改名为 { $aside }；请把最新备份中的 ledger.sqlite、ledger.head 和 ledger.key 复制到该文件夹（在此之前不会花费预算）
ledger-missing = { $path } 不见了，而此处曾有账本；请把最新备份中的 ledger.* 文件复制到该文件夹（若要从头开始并忘记所有花费，请移走其中所有 ledger.* 文件）
ledger-missing-aside = { $path } 不见了，而此处曾有账本（损坏的一份已改名为 { $aside }）；请把最新备份中的 ledger.* 文件复制到该文件夹（若要从头开始并忘记所有花费，请移走其中所有 ledger.* 文件）
ledger-key-missing = { $path } 不见了，没有它就认不出账本中的任何数据集；请从备份中恢复
ledger-key-wrong = { $path } 不属于这个账本（{ $reason }）；请恢复与它一同备份的密钥
ledger-broken = { $path } 不完整：{ $findings }；请把所有 ledger.* 文件移出该文件夹，再复制最新备份（在此之前不会花费预算）
ledger-head-not-written = 第 { $entry } 条已计费，但无法写入 { $path }；请腾出空间或更改权限，然后重新启动
ledger-file = 无法读写 { $path }
ledger-database = 无法使用 { $path }
ledger-no-randomness = 操作系统没有为账本的密钥提供随机数：{ $reason }
ledger-over-total = 这次任务需要“{ $name }”总额（ε = { $epsilon }，δ = { $delta }）的 { $needed } %，而只剩 { $left } %；请降低 ε，或说明理由提高总额（没有花费预算）
ledger-no-delta-apart = “{ $name }”的总额没有为自带 δ 的任务（例如基于稳定性的类别）留出余地：总额下的第一个任务没有自带 δ，因此全部 δ 都用于其他任务的噪声；请改为申报取值（没有花费预算）
ledger-total-too-large = 总额 ε = { $epsilon }，δ = { $delta } 几乎等于不设限，而总额永远不能降低；最多为 ε = { $most }，δ = { $least }
ledger-relation-differs = “{ $name }”的总额按“{ $kept }”计，这次任务按“{ $asked }”承诺；两者不能相加，请在计划中采用总额的相邻关系
ledger-unit-differs = “{ $name }”的总额保护{ $kept }，这次任务保护{ $asked }；两者不能相加，请在“数据”页的模式中采用总额的隐私单位
ledger-cannot-total = “{ $name }”已有的花费不能归入一个总额：{ $reason }
ledger-total-not-raised = “{ $name }”已有总额 ε = { $epsilon }，δ = { $delta }；总额只能提高，不能降低或重设
ledger-total-too-small = 总额 ε = { $epsilon }，δ = { $delta } 容不下任何任务；δ 必须大于 0，ε 必须足够大
ledger-reason-missing = 请说明设置或提高总额的理由：理由会记入账本
ledger-not-a-promise = ε = { $epsilon }，δ = { $delta } 不是承诺：ε 必须是不小于 0 的有限数，δ 必须不小于 0 且小于 1
ledger-unwritable = 账本无法记录此条：{ $reason }
ledger-unknown-entry = 账本中没有第 { $entry } 条预留
ledger-unknown-dataset = 账本不认识数据集 { $name }
ledger-already-settled = 第 { $entry } 条已经结算
ledger-already-known = 账本已经以“{ $name }”之名认识这份内容，因此它不能成为另一个数据集的新版本
ledger-backup-exists = { $path } 已经存在；请为备份另取名称
finding-changed = 第 { $entry } 条被改动
finding-lost = 第 { $from } 条到第 { $to } 条丢失
finding-reordered = 第 { $entry } 条的位置不对
finding-cut-off = 末尾被截去：{ $expected } 条中只剩 { $found } 条
finding-meaningless = 第 { $entry } 条没有意义：{ $reason }
finding-head-missing = ledger.head 不见了
finding-head-damaged = ledger.head 被改动或已损坏
finding-head-stale = ledger.head 是旧的：{ $found } 条中只知道 { $known } 条
finding-certificate-differs = 证书与第 { $entry } 条不符：{ $what }
finding-certificate-unknown = 证书提到 { $count } 条，其末尾不在这个账本中
finding-database = 数据库不一致：{ $reason }

## 发布统计量

column-not-in-schema = 结构中没有“{ $column }”列；请检查名称
column-not-in-data = 数据中没有“{ $column }”列；请选择含有该列的文件
column-not-a-number = “{ $column }”列的类型是 { $kind }，不是数；请选择其他列
column-without-domain = “{ $column }”列没有公开的取值列表；请给出取值范围
column-gone = 结构中已没有“{ $column }”列
release-busy = 正在计算另一项统计量；请等待它完成
release-no-table = 请先打开数据表，再发布统计量
release-not-kept = 购得的内容无法写入结构：{ $reason }
release-table-closed = 数据表已关闭，购得的内容没有写入其结构；它仍保留在发布结果中
a-word = { $word }
release-no-column = “{ $query }”需要一列；请选择列
release-unknown-column = 结构中没有“{ $column }”列；现有：{ $known }
release-dropped = “{ $column }”列的类型是{ $kind }，已被丢弃：不会发布它的任何内容；请选择其他列，或在结构中换一种类型
release-wrong-kind = 对类型为{ $kind }的“{ $column }”列求“{ $query }”没有意义；请选择其他列或其他统计量
release-open = “{ $column }”列还不能使用：{ $why }；也可以购买：{ $query }
release-open-boolean = “{ $column }”列还不能使用：{ $why }
release-no-groups = 按“{ $column }”列分组需要公开的取值列表，而它的类型是{ $kind }；请按分类列或布尔列分组
release-not-by-group = “{ $query }”只能对整列购买；请不要分组
release-grouped-by-itself = “{ $column }”列不能按自己分组；请改求直方图
release-too-many = 共有 { $count } 个值，一次最多发布 { $most } 个；请减少区间或分组
release-nothing-to-buy = “{ $column }”列已声明为公开知识，没有什么可买
unit-gone = 结构不再区分个人，人数没有可写的位置
release-rows-declared = 结构已声明行数（{ $rows }）为公开知识，没有什么可买
release-persons-declared = 结构已声明人数（{ $persons }）为公开知识，没有什么可买
release-persons-by-group = 人数只能整体计算，因为一个人的行可能属于多个组；请不要分组
release-rows-public = 在“{ $relation }”下行数本来就是公开的，没有什么可买；请把它写入结构
release-epsilon = ε 应在 { $least } 与 { $most } 之间，而不是 { $epsilon }
release-delta-needed = 这需要大于 0 的 δ（小于行数的倒数，例如 1e-6）
release-share = 分位数的比例应大于 0 且小于 1，而不是 { $share }
release-bins = 直方图的区间数应在 1 到 { $most } 之间，而不是 { $bins }
release-mechanism = “{ $query }”不能用这种机制回答；请换一种，或不指定
release-noise = 无法抽取这样的噪声；请换一个 ε，或收窄界限
release-accounting = 这项发布无法计入账目
note-missing-left-out = “{ $column }”中没有值的单元格不计入
note-clamped = “{ $column }”中超出 { $lower } 到 { $upper } 的值按最近的界限计；区间针对如此处理后的值
note-persons-once = 每个人（“{ $column }”）无论有多少行只计一次；没有所属个人的行不计入
note-first-rows = 每个人（“{ $column }”）只计前 { $rows } 行；没有所属个人的行不计入
note-group-left-out = “{ $column }”缺失或不在取值列表中的行不计入
note-not-cut-off = 值保留其噪声，可能小于 0；截去会使总和有偏
note-public-count = 值的个数采用已声明的行数，因此只有总和带噪声
note-pointwise = 每个区间各自成立，而不是全部同时成立
note-simultaneous = 所有区间同时成立
note-on-grid = 值是间距为 { $spacing } 的网格上的一点
note-unit = 单位：{ $unit }
note-bounds-threshold = 一个区间须包含多于 { $rows } 行（连同噪声）才算数；端点落在空区间的概率不超过 { $failure }
note-categories-threshold = 一个值须出现在多于 { $rows } 行中（连同噪声）；更少见的按缺失计
note-form-accepted = 不受保护：文件的读取方式由文件识别并被接受
form-open = 文件的读取方式是从文件中识别的，暂不能以它为依据：请指明，或接受它（结构中的 `[read]`，或“数据”页）
note-nothing-found = 没有任何内容高出噪声，因此没有买到什么；需要更大的 ε 或更多的行
release-fits = 这项发布最多还剩约 ε = { $epsilon }
release-no-delta-left = 总额下的第一次任务自身没有 δ，因此没有为带有 δ 的任务预留；在另一个总额下，请先购买取值
release-empty-column = “{ $column }”列的每个单元格都缺失，没有可发布的内容；请选择其他列（仅供管理者；没有花费预算）
release-not-settled = 账本条目 { $entry } 仍未结清，按全额计费：{ $reason }
meaning-mixed = 此数据集的条目所隐藏的内容不同（相邻关系或单位），没有一个 ε 能概括全部
meaning-planned-apart = 方案所隐藏的内容与已花费的不同（相邻关系），两者不能相加
session-unreadable = { $path }：无法读取会话；请检查路径
session-malformed = { $path }：不是本程序能继续的会话；请直接打开数据表
session-not-kept = { $path }：无法在此保存会话；请检查文件夹是否可写
schema-other-columns = 所保存的结构与此数据表的列不同；改用数据表自己的结构
schema-columns-changed = 自上次审阅结构以来，数据表的列已改变；已不存在：{ $gone }；新增、待审阅：{ $new }
