"""Models of ai.onnx.ml: features, linear models, support vectors, trees; each row computed plainly."""
import math

import numpy as np
from one_node import case

rng = np.random.default_rng(31)
ML = "ai.onnx.ml::"
f32 = np.float32


def floats(*shape, dtype=f32):
    return rng.standard_normal(shape).astype(dtype)


def listed(values):
    return [float(v) for v in np.asarray(values).ravel()]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# --- Features

for kind in (f32, np.float64, np.int32, np.int64):
    name, x = np.dtype(kind).name, (floats(4, 5) * 3).astype(kind)
    x[1] = 0
    wide = x.astype(np.float64)
    nonzero = lambda size: np.where(size == 0, 1, size)
    for norm, size in (("MAX", wide.max(1, keepdims=True)), ("L1", abs(wide).sum(1, keepdims=True)),
                       ("L2", np.sqrt((wide**2).sum(1, keepdims=True)))):
        case(f"ml normalizer {norm} {name}", ML + "Normalizer", 1, [x], [(wide / nonzero(size)).astype(f32)], {"norm": norm})
    offset, scale = floats(5), floats(5)
    case(f"ml scaler {name}", ML + "Scaler", 1, [x], [((wide - offset) * scale).astype(f32)],
         {"offset": listed(offset), "scale": listed(scale)})
    case(f"ml binarizer {name}", ML + "Binarizer", 1, [x], [(wide > 0.5).astype(kind)], {"threshold": 0.5})
    case(f"ml columns {name}", ML + "ArrayFeatureExtractor", 1, [x, np.array([[3, 0, 3]])], [x[:, [3, 0, 3]]])
    categories = [2, 0, -1]
    case(f"ml onehot {name}", ML + "OneHotEncoder", 1, [x],
         [(x.astype(np.int64)[..., None] == np.array(categories)).astype(f32)], {"cats_int64s": categories})
case("ml scaler one", ML + "Scaler", 1, [x], [((x + 2) * 0.5).astype(f32)], {"offset": [-2.0], "scale": [0.5]})
case("ml columns of a vector", ML + "ArrayFeatureExtractor", 1, [x[0], np.array([1, 1])], [x[:1, [1, 1]]])
parts = [floats(3, 4), np.int64([[1], [2], [3]]), floats(3, 2)]
case("ml vectorizer", ML + "FeatureVectorizer", 1, parts,
     [np.concatenate([parts[0][:, :3], parts[1], np.zeros((3, 1)), parts[2]], 1).astype(f32)], {"inputdimensions": [3, 2, 2]})
holes = floats(4, 3)
holes[0, 1] = holes[3, 2] = np.nan
case("ml imputer nan", ML + "Imputer", 1, [holes], [np.where(np.isnan(holes), f32([7, 8, 9]), holes)],
     {"imputed_value_floats": [7.0, 8.0, 9.0], "replaced_value_float": math.nan})
numbers = rng.integers(0, 4, (5, 3))
case("ml imputer integers", ML + "Imputer", 1, [numbers], [np.where(numbers == 2, 1 << 60, numbers)],
     {"imputed_value_int64s": [1 << 60], "replaced_value_int64": 2})

# Numbers of keys around powers of two; the first of equal keys counts.
for count in (1, 2, 3, 8, 9, 33):
    keys, values = rng.permutation(40)[:count], rng.integers(-2**62, 2**62, count)
    table = dict(zip(keys.tolist(), values.tolist()))
    x = rng.integers(0, 40, (6, 9))
    want = np.vectorize(lambda v: table.get(v, -5), otypes=[np.int64])(x)
    attributes = {"keys_int64s": keys.tolist(), "values_int64s": values.tolist(), "default_int64": -5}
    case(f"ml labels {count}", ML + "LabelEncoder", 2, [x], [want], attributes)
    case(f"ml labels of floats {count}", ML + "LabelEncoder", 2, [x.astype(f32)], [want],
         {"keys_floats": listed(keys)} | {k: v for k, v in attributes.items() if k != "keys_int64s"})
case("ml labels nan", ML + "LabelEncoder", 4, [np.float64([1, np.nan, 2, 1, 3])], [np.int16([5, 6, -1, 5, -1])],
     {"keys_tensor": np.float64([np.nan, 1, 1]), "values_tensor": np.int16([6, 5, 4]), "default_tensor": np.int16([-1])})

# --- Linear models and support vectors


def softmax_zero(scores):
    power = np.where(scores == 0, 0, np.exp(scores - scores.max(1, keepdims=True)))
    return power / power.sum(1, keepdims=True)


def normal_quantile(p):  # by bisection of its inverse; Winitzki's formula, which the op has, is good to 0.002
    below, above = np.full(p.shape, -9.0), np.full(p.shape, 9.0)
    for _ in range(60):
        middle = (below + above) / 2
        isLess = 0.5 * (1 + np.vectorize(math.erf)(middle / math.sqrt(2))) < p
        below, above = np.where(isLess, middle, below), np.where(isLess, above, middle)
    return below


POST = {"NONE": lambda s: s, "LOGISTIC": sigmoid, "SOFTMAX_ZERO": softmax_zero,
        "SOFTMAX": lambda s: np.exp(s) / np.exp(s).sum(1, keepdims=True)}
x = floats(6, 4)
for post, of in POST.items():
    weights, bias = floats(3, 4), floats(3)
    scores = x.astype(np.float64) @ weights.T + bias
    case(f"ml linear regressor {post}", ML + "LinearRegressor", 1, [x], [of(scores).astype(f32)],
         {"coefficients": listed(weights), "intercepts": listed(bias), "targets": 3, "post_transform": post})
    case(f"ml linear classifier {post}", ML + "LinearClassifier", 1, [x],
         [np.int64([7, 5, 9])[scores.argmax(1)], of(scores).astype(f32)],
         {"coefficients": listed(weights), "intercepts": listed(bias), "classlabels_ints": [7, 5, 9], "post_transform": post})
case("ml linear regressor probit", ML + "LinearRegressor", 1, [abs(x)],
     [normal_quantile(abs(x).sum(1, keepdims=True) * 0.05 + 0.1).astype(f32)],
     {"coefficients": [0.05] * 4, "intercepts": [0.1], "post_transform": "PROBIT"}, atol=4e-3, rtol=4e-3)
score = x.astype(np.float64) @ weights[0] + bias[0]
one = {"coefficients": listed(weights[0]), "intercepts": listed(bias[:1]), "classlabels_ints": [3, 4]}
case("ml linear classifier of two", ML + "LinearClassifier", 1, [x],
     [np.where(score > 0, 4, 3), np.stack([1 - score, score], 1).astype(f32)], one)
case("ml linear classifier of two logistic", ML + "LinearClassifier", 1, [x],
     [np.where(score > 0, 4, 3), sigmoid(np.stack([-score, score], 1)).astype(f32)], one | {"post_transform": "LOGISTIC"})
case("ml linear classifier scores only", ML + "LinearClassifier", 1, [x], [None, np.stack([1 - score, score], 1).astype(f32)],
     {k: v for k, v in one.items() if k != "classlabels_ints"} | {"classlabels_strings": ["no", "yes"]})

GAMMA, OFFSET = 0.3, 1.5
KERNELS = {"LINEAR": lambda a, b: a @ b, "POLY": lambda a, b: (GAMMA * (a @ b) + OFFSET)**3,
           "RBF": lambda a, b: np.exp(-GAMMA * np.sum((a - b)**2)), "SIGMOID": lambda a, b: np.tanh(GAMMA * (a @ b) + OFFSET)}


def pair_scores(near, coefficients, per_class, rho):
    """near[v] of one row; the pairs (0, 1), (0, 2), .. (1, 2), ..; their classes."""
    starts, scores, pairs = np.concatenate([[0], np.cumsum(per_class)]), [], []
    for i in range(len(per_class)):
        for j in range(i + 1, len(per_class)):
            mine, other = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
            scores.append(coefficients[j - 1, mine] @ near[mine] + coefficients[i, other] @ near[other] + rho[len(pairs)])
            pairs.append((i, j))
    return scores, pairs


def shares(score, pairs, a, b, count):
    """Minimizes sum over i < j of (r_ji p_i - r_ij p_j)^2 with sum p = 1, as a system of linear equations."""
    r = np.zeros((count, count))
    for k, (i, j) in enumerate(pairs):
        r[i, j] = np.clip(sigmoid(-(score[k] * a[k] + b[k])), 1e-7, 1 - 1e-7)
        r[j, i] = 1 - r[i, j]
    q = np.diag((r.T**2).sum(1)) - np.where(np.eye(count) > 0, 0, r.T * r)
    system = np.block([[q, np.ones((count, 1))], [np.ones((1, count)), np.zeros((1, 1))]])
    return np.linalg.solve(system, np.append(np.zeros(count), 1))[:count]


for kernel, of in KERNELS.items():
    vectors, weights, rho = floats(5, 4), floats(5), floats(1)
    near = np.float64([[of(row, v) for v in vectors.astype(np.float64)] for row in x.astype(np.float64)])
    base = {"kernel_type": kernel, "kernel_params": [GAMMA, OFFSET, 3.0]}
    y = (near @ weights + rho)[:, None]
    regressor = base | {"coefficients": listed(weights), "rho": listed(rho), "n_supports": 5, "support_vectors": listed(vectors)}
    case(f"ml svm regressor {kernel}", ML + "SVMRegressor", 1, [x], [y.astype(f32)], regressor)
    case(f"ml svm one class {kernel}", ML + "SVMRegressor", 1, [x], [np.where(y > 0, 1, -1).astype(f32)], regressor | {"one_class": 1})
    for per_class in ([2, 3], [1, 3, 1], [2, 1, 1, 1]):
        count, pairs = len(per_class), len(per_class) * (len(per_class) - 1) // 2
        weights, rho, a, b = floats(count - 1, 5), floats(pairs), -abs(floats(pairs)), floats(pairs)
        rows = [pair_scores(row, weights, per_class, rho) for row in near]
        scores = np.float64([r[0] for r in rows])
        votes = [np.bincount([p[0] if s > 0 else p[1] for s, p in zip(r[0], r[1])], minlength=count).argmax() for r in rows]
        attributes = base | {"coefficients": listed(weights), "rho": listed(rho), "support_vectors": listed(vectors),
                             "vectors_per_class": per_class, "classlabels_ints": list(range(10, 10 + count))}
        labels = np.int64(votes) + 10
        case(f"ml svm classifier {kernel} {count}", ML + "SVMClassifier", 1, [x],
             [labels, (np.concatenate([-scores, scores], 1) if count == 2 else scores).astype(f32)], attributes)
        exact = np.float64([shares(s, rows[0][1], a, b, count) for s in scores])
        case(f"ml svm shares {kernel} {count}", ML + "SVMClassifier", 1, [x], [labels, exact.astype(f32)],
             attributes | {"prob_a": listed(a), "prob_b": listed(b)}, atol=0.006)

# --- Trees

HOLDS = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal, "BRANCH_GT": np.greater,
         "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}
MODES = list(HOLDS)


def grown(depth, features, modes, targets, leaf_targets):
    """A tree: (mode, feature, value, where NaN goes, yes, no) or a leaf {target: weight}."""
    if depth == 0 or rng.random() < 0.2:
        chosen = range(targets) if leaf_targets == "all" else [int(rng.integers(targets))] if leaf_targets == "one" else [leaf_targets]
        return {k: float(f32(rng.standard_normal())) for k in chosen}
    return (modes[rng.integers(len(modes))], int(rng.integers(features)), float(rng.integers(-2, 3)), int(rng.integers(2)),
            grown(depth - 1, features, modes, targets, leaf_targets), grown(depth - 1, features, modes, targets, leaf_targets))


def leaf_of(tree, row):
    while isinstance(tree, tuple):
        mode, feature, value, takes_nan, yes, no = tree
        holds = row[feature] in value if mode == "BRANCH_MEMBER" else HOLDS[mode](row[feature], value)
        tree = yes if holds or (takes_nan and np.isnan(row[feature])) else no
    return tree


def folded(trees, x, targets, how):
    """Scores [rows, targets]."""
    scores = np.zeros((len(x), targets))
    for i, row in enumerate(x):
        leaves = [leaf_of(tree, row) for tree in trees]
        for k in range(targets):
            weights = [leaf[k] for leaf in leaves if k in leaf]
            scores[i, k] = {"SUM": sum, "AVERAGE": lambda w: sum(w) / len(trees), "MIN": min, "MAX": max}[how](weights) if weights else 0
    return scores


def as_lists(trees, of):
    """The attributes of opset 1; nodes are numbered in an order that is none of a walk."""
    a = {k: [] for k in ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_values", "nodes_truenodeids",
                         "nodes_falsenodeids", "nodes_missing_value_tracks_true", of + "_treeids", of + "_nodeids", of + "_ids",
                         of + "_weights")}
    for number, tree in enumerate(trees):
        nodes = [tree]
        for node in nodes:
            nodes.extend(node[4:] if isinstance(node, tuple) else [])
        at = lambda node: next(i for i, other in enumerate(nodes) if other is node)
        for i, node in enumerate(nodes):
            mode, feature, value, takes_nan, yes, no = node if isinstance(node, tuple) else ("LEAF", 0, 0.0, 0, None, None)
            row = (number, 3 * i, feature, mode, value, 3 * at(yes) if yes is not None else 0, 3 * at(no) if no is not None else 0, takes_nan)
            for key, item in zip(a, row):
                a[key].append(item)
            for target, weight in node.items() if isinstance(node, dict) else ():
                for key, item in zip((of + "_treeids", of + "_nodeids", of + "_ids", of + "_weights"), (number, 3 * i, target, weight)):
                    a[key].append(item)
    return a


def with_leaves(trees, dtype):
    """The attributes of opset 5."""
    nodes, leaves, roots, members = [], [], [], []

    def place(node):
        if isinstance(node, dict):
            leaves.extend(node.items())
            return len(leaves) - 1, 1
        i = len(nodes)
        nodes.append(None)
        nodes[i] = (node, place(node[4]), place(node[5]))
        return i, 0

    for tree in trees:
        roots.append(len(nodes))
        if isinstance(tree, dict):
            leaf = place(tree)
            nodes.append((("BRANCH_LEQ", 0, 0.0, 0), leaf, leaf))
        else:
            place(tree)
    for node, _, _ in nodes:
        members += [*node[2], math.nan] if node[0] == "BRANCH_MEMBER" else []
    a = {"tree_roots": roots, "leaf_targetids": [k for k, _ in leaves], "leaf_weights": np.array([w for _, w in leaves], dtype),
         "nodes_modes": np.uint8([(MODES + ["BRANCH_MEMBER"]).index(n[0][0]) for n in nodes]),
         "nodes_featureids": [n[0][1] for n in nodes],
         "nodes_splits": np.array([0 if n[0][0] == "BRANCH_MEMBER" else n[0][2] for n in nodes], dtype),
         "nodes_missing_value_tracks_true": [n[0][3] for n in nodes],
         "nodes_truenodeids": [n[1][0] for n in nodes], "nodes_trueleafs": [n[1][1] for n in nodes],
         "nodes_falsenodeids": [n[2][0] for n in nodes], "nodes_falseleafs": [n[2][1] for n in nodes]}
    return a | ({"membership_values": np.array(members, dtype)} if members else {})


def rows_of(features, kind):
    x = np.round(floats(7, features) * 2).astype(kind)
    if x.dtype.kind == "f":
        x[rng.random(x.shape) < 0.2] = np.nan
    return x


for number, how in enumerate(("SUM", "AVERAGE", "MIN", "MAX")):
    for kind in (f32, np.float64, np.int32, np.int64):
        targets, depth = 1 + number, (5, 7, 1, 0)[int(np.dtype(kind).num) % 4]
        modes = MODES if number % 2 else MODES[number:number + 1]
        trees = [grown(depth, 4, modes, targets, ("all", "one")[number % 2]) for _ in range(1 + 2 * number)]
        x, base = rows_of(4, kind), floats(targets)
        case(f"ml trees {how} {np.dtype(kind).name}", ML + "TreeEnsembleRegressor", 1, [x],
             [(folded(trees, x, targets, how) + base).astype(f32)],
             as_lists(trees, "target") | {"aggregate_function": how, "n_targets": targets, "base_values": listed(base)})
deep = ("BRANCH_LEQ", 0, 0.5, 0, {0: 1.0}, {0: 2.0})
for i in range(40):  # more steps than are laid out
    deep = ("BRANCH_LEQ", 0, float(i), 0, deep, {0: float(i)})
x = np.arange(-3, 45, 1.5, dtype=f32)[:, None]
case("ml trees deep", ML + "TreeEnsembleRegressor", 1, [x], [folded([deep], x, 1, "SUM").astype(f32)], as_lists([deep], "target") | {"n_targets": 1})
third = ("BRANCH_LEQ", 0, 1 / 3, 0, {0: 1.0}, {0: 2.0})  # a threshold that no f32 is
lists = as_lists([third], "target")
x = np.float64([[np.nextafter(1 / 3, 0)], [1 / 3], [np.nextafter(1 / 3, 1)]])
case("ml trees thresholds of doubles", ML + "TreeEnsembleRegressor", 3, [x], [f32([[1], [1], [2]])],
     {k: v for k, v in lists.items() if k not in ("nodes_values", "target_weights")} |
     {"nodes_values_as_tensor": np.array(lists["nodes_values"]), "target_weights_as_tensor": np.array(lists["target_weights"]), "n_targets": 1})

for post, of in POST.items():
    x = rows_of(4, f32)
    for leaf_targets in ("all", "one"):
        trees = [grown(4, 4, MODES[:2], 3, leaf_targets) for _ in range(5)]
        scores = folded(trees, x, 3, "SUM")
        has = np.array([[any(k in leaf_of(t, row) for t in trees) for k in range(3)] for row in x])
        case(f"ml tree classes {post} {leaf_targets}", ML + "TreeEnsembleClassifier", 1, [x],
             [np.int64([30, 10, 20])[np.where(has, scores, -np.inf).argmax(1)], of(scores).astype(f32)],
             as_lists(trees, "class") | {"classlabels_int64s": [30, 10, 20], "post_transform": post})
    # One score decides between two classes.
    for is_share in (False, True):
        trees = [grown(4, 4, MODES, 2, 0) for _ in range(3)]
        if is_share:
            trees = [{0: 0.3}, ("BRANCH_GT", 1, 0.0, 0, {0: 0.4}, {0: 0.0})]
        score = folded(trees, x, 1, "SUM")[:, 0] + (0 if is_share else 0.25)
        first = 1 - score if is_share else -score
        pair = sigmoid(np.stack([-score, score], 1)) if post == "LOGISTIC" else np.stack([first, score], 1)
        case(f"ml tree of two {post} {is_share}", ML + "TreeEnsembleClassifier", 1, [x],
             [np.where(score > (0.5 if is_share else 0), 6, 5), pair.astype(f32)],
             as_lists(trees, "class") | {"classlabels_int64s": [5, 6], "post_transform": post} | ({} if is_share else {"base_values": [0.25]}))
    trees = [grown(3, 4, MODES[:2], 2, 1) for _ in range(3)]
    scores = folded(trees, x, 2, "SUM")
    positive = all(w >= 0 for t in as_lists(trees, "class")["class_weights"] for w in [t])
    case(f"ml tree second of two {post}", ML + "TreeEnsembleClassifier", 1, [x],
         [np.where(scores[:, 1] > (0.5 if positive else 0), 6, 5), of(scores).astype(f32)],
         as_lists(trees, "class") | {"classlabels_int64s": [5, 6], "post_transform": post})

for kind in (f32, np.float64, np.float16):
    for number, how in enumerate(("AVERAGE", "SUM", "MIN", "MAX")):
        member = lambda yes, no: ("BRANCH_MEMBER", 2, [1.0, -1.0, 3.0][:1 + number % 3], number % 2, yes, no)
        trees = [grown(3, 4, MODES, 2, "one") for _ in range(3)] + [{1: 0.5}]
        trees.append(member(member({0: 1.0}, {1: 2.0}), grown(2, 4, MODES, 2, "one")))
        x = rows_of(4, kind)
        case(f"ml forest {how} {np.dtype(kind).name}", ML + "TreeEnsemble", 5, [x], [folded(trees, x, 2, how).astype(kind)],
             with_leaves(trees, kind) | {"aggregate_function": number, "n_targets": 2},
             **(dict(rtol=4e-3, atol=4e-3) if kind == np.float16 else {}))
    case(f"ml forest softmax {np.dtype(kind).name}", ML + "TreeEnsemble", 5, [x],
         [POST["SOFTMAX"](folded(trees, x, 2, "SUM")).astype(kind)], with_leaves(trees, kind) | {"n_targets": 2, "post_transform": 1},
         **(dict(rtol=4e-3, atol=4e-3) if kind == np.float16 else {}))
