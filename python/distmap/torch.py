"""Operators of PyTorch: distance maps within torch.compile, vmap and CUDA graphs, with gradients.

    import distmap.torch

    distance = distmap.torch.edt(mask)

Every function is an operator that torch.library knows (torch.ops.distmap.edt), with a rule for shapes (so that torch.compile needs no graph
break), a rule for vmap, and kernels for CPU and CUDA tensors; those of a GPU work on the current stream. Results are those of the functions
of the same names in distmap, to the bit.

A mask has no gradient. There are gradients

    of values with respect to `sampling`, if it is a tensor: |p - q| = sqrt(sum w_a^2 (p_a - q_a)^2) with the nearest site q held fast
    of generalized_distance() with respect to its samples: out(p) = min of f(q) + |p - q|^2 has 1 at the sample that wins

Both are exact except where two sites are equally near, which is a set of measure zero; there they are those of the site with the lowest
index. Where there is no site, and the value is infinite, they are 0. The winners are found anew when the gradient is asked for, unless the
call gave them out (`indices=True`).

A tensor of pitches is read by the CPU: on a GPU that waits for it, so keep it in host memory. Gradients are those of torch.autograd, also
through vmap and within torch.compile; torch.func.grad takes no operator whose gradient torch.library knows.
"""

import torch
from torch import Tensor

from ._arrays import numpy_of
from ._names import INDEX_BORDER, INDEX_NONE
from ._problem import INT32
from ._transform import call, transform

__all__ = ["edt", "edt_squared", "expand_labels", "feature_transform", "generalized_distance", "signed_distance"]

# ---- Operators: schemas, and what a kernel does ----------------------------------------------------------------------------

SITES = {"sites": ("str", "zero"), "lo": ("float?", None), "hi": ("float?", None), "limit": ("float?", None), "border": ("bool", False)}
AXES = {"axes": ("int[]?", None)}
FLOAT = {"dtype": ("ScalarType", torch.float32), "fill": ("float?", None)}
LABELS, SIGN = {"labels": ("bool", False)}, {"sign": ("str", "none"), "surface": ("str", "centre")}

# name: (its outputs, its options)
OPERATORS = {
    "edt": (("distance",), SITES | LABELS | AXES | FLOAT),
    "edt_squared": (("squared",), SITES | LABELS | AXES | FLOAT),
    "edt_with_sites": (("distance", "index"), SITES | LABELS | AXES | FLOAT),
    "feature_transform": (("index",), SITES | LABELS | SIGN | AXES),
    "feature_coordinates": (("coords",), SITES | AXES),
    "signed_distance": (("distance",), SITES | SIGN | AXES | FLOAT),
    "expand_labels": (("label",), {"distance": ("float", 1.0)} | AXES),
    "generalized_distance": (("squared",), {"dtype": ("ScalarType?", None)} | AXES),
    "generalized_distance_with_sites": (("squared", "index"), {"dtype": ("ScalarType?", None)} | AXES),
}


def text_of(value):
    texts = {None: "None", torch.float32: "float", False: "False"}
    return texts[value] if value in texts else f'"{value}"' if isinstance(value, str) else str(value)


def schema(name, pitches):
    """With `pitches`, those are a tensor, else numbers."""
    outputs, options = OPERATORS[name]
    shown = ([] if pitches else ["float[]? sampling=None"]) + [f"{kind} {key}={text_of(value)}" for key, (kind, value) in options.items()]
    given = ["Tensor input"] + ["Tensor sampling"] * pitches
    results = "Tensor" if len(outputs) == 1 else f"({', '.join(['Tensor'] * len(outputs))})"
    return f"{name}{'.pitches' if pitches else ''}({', '.join(given)}, *, {', '.join(shown)}) -> {results}"


def complete(name, options):
    """All options: the dispatcher leaves out those that have their defaults."""
    return {key: value for key, (_, value) in OPERATORS[name][1].items()} | options


def new_outputs(name, input, options):
    """Their tensors. Values lie in memory as the input does, nearest sites in C order."""
    for output in OPERATORS[name][0]:
        if output == "coords":
            yield input.new_empty((input.dim(), *input.shape), dtype=torch.int32)
        elif output == "index":
            yield input.new_empty(input.shape, dtype=torch.int32 if input.numel() <= INT32 else torch.int64)
        elif output == "label":
            yield input.new_empty(input.shape)
        else:
            yield torch.empty_like(input, dtype=options["dtype"] or value_dtype(input), requires_grad=False)


def value_dtype(samples):
    """The type of generalized distances, where nobody gives one."""
    return torch.float32 if samples.dtype in (torch.float32, torch.float16, torch.bfloat16) else torch.float64


def arguments_of(ndim, kind, outputs, sampling, axes, sites, lo, hi, limit, border, sign, surface):
    """Those of distmap.transform()."""
    rule = {"range": (lo, hi), "value": lo}.get(sites, sites)
    return {"want": dict.fromkeys(outputs), "kind": kind, "spacing": sampling, "axes": axes, "sites": rule, "limit": limit,
            "border": border, "sign": None if sign == "none" else sign, "surface": surface, "method": None, "fill": None}


def compute(name, input, sampling, options):
    outputs = OPERATORS[name][0]
    made = list(new_outputs(name, input, options))
    kind = "sampled" if name.startswith("generalized") else "labels" if options.get("labels") else "mask"
    distance = options.get("distance")  # of expand_labels: the least positive limit selects the labels themselves
    limit = options.get("limit") if distance is None else distance or torch.finfo(torch.float64).tiny
    sampling = sampling[0] if sampling is not None and len(sampling) == 1 else sampling
    given = (kind, outputs, sampling, options["axes"], options.get("sites", "zero" if distance is None else "nonzero"), options.get("lo"),
             options.get("hi"), limit, options.get("border", False), options.get("sign", "none"), options.get("surface", "centre"))
    if input.device.type == "cpu" and "coords" not in outputs:
        views = [numpy_of(tensor) for tensor in (input, *made)]
        results = call(arguments_of, None, *views[:2], *given)
        if len(made) > 1:
            made[1] = torch.from_numpy(results[1])
    else:
        transform(input, out=dict(zip(outputs, made)), **arguments_of(input.dim(), *given))
    if (fill := options.get("fill")) is not None:
        made[0].masked_fill_(made[0].isinf() if made[0].is_floating_point() else made[0] == torch.iinfo(made[0].dtype).max, fill)
    return made[0] if len(made) == 1 else tuple(made)


# ---- vmap: the batch becomes an axis that is not measured ------------------------------------------------------------------


def measured(axes, ndim):
    return list(range(ndim)) if axes is None else [axis % ndim for axis in axes]


def of_measured(values, axes, ndim):
    """Pitches of all axes as those of the measured ones, in the order in which these are named."""
    if isinstance(values, Tensor):
        return values[axes] if values.dim() == 1 and len(values) == ndim else values
    return [values[axis] for axis in axes] if len(values) == ndim else values


def batched(name, operator):
    def rule(info, in_dims, input, *pitches, **options):
        if pitches and in_dims[1] is not None:  # every problem has its own
            each = zip(rows(input, in_dims[0], info.batch_size), pitches[0].movedim(in_dims[1], 0).unbind(0))
            results = [operator(one, by, **options) for one, by in each]
            if isinstance(results[0], Tensor):
                return torch.stack(results), 0
            return tuple(torch.stack(several) for several in zip(*results)), (0,) * len(results[0])
        input = input.movedim(in_dims[0], 0)
        ndim = input.dim() - 1
        axes = measured(options.pop("axes", None), ndim)
        if pitches:
            pitches = (of_measured(pitches[0], axes, ndim),)
        elif options.get("sampling") is not None:
            options["sampling"] = of_measured(options["sampling"], axes, ndim)
        results = operator(input, *pitches, axes=[axis + 1 for axis in axes], **options)
        several = results if isinstance(results, tuple) else (results,)
        pairs = [of_one(output, result) for output, result in zip(OPERATORS[name][0], several)]
        made, dims = zip(*pairs)
        return (made, dims) if len(made) > 1 else (made[0], dims[0])
    return rule


def rows(input, dim, count):
    return [input] * count if dim is None else input.movedim(dim, 0).unbind(0)


def of_one(output, result):
    """A result for the batch, in which sites are told as each problem by itself would, and where its batch axis is."""
    if output == "coords":
        return result[1:], 1
    if output != "index":
        return result, 0
    size = result[0].numel()
    result = torch.where(result >= 0, result % max(size, 1), result)
    return result.to(torch.int32 if size <= INT32 else torch.int64), 0


# ---- Gradients ---------------------------------------------------------------------------------------------------------------


def offsets(index, axes, pitches, border):
    """From every element to its nearest site, along each measured axis, float64; 0 where it has none."""
    shape, ndim = index.shape, index.dim()
    places, step = {}, 1
    for axis in reversed(range(ndim)):
        if axis in axes:
            here = torch.arange(shape[axis], device=index.device).reshape([-1 if a == axis else 1 for a in range(ndim)])
            places[axis] = here, index.div(step, rounding_mode="floor") % max(shape[axis], 1)
        step *= shape[axis]
    found = [torch.where(index >= 0, places[axis][1] - places[axis][0], 0).double() for axis in axes]
    if not border:
        return found
    # The nearest place outside lies straight along one axis.
    beyond = [torch.minimum(places[axis][0] + 1, shape[axis] - places[axis][0]).double().expand(shape) for axis in axes]
    nearest = torch.stack([pitches[k] * steps for k, steps in enumerate(beyond)]).argmin(0)
    return [torch.where(index == INDEX_BORDER, torch.where(nearest == k, beyond[k], 0), found[k]) for k in range(len(axes))]


def pitch_gradient(gradient, index, sampling, options, sign=None, squared=False):
    """The gradient with respect to the pitches of |p - q|, or its square, times `sign`."""
    ndim = index.dim()
    axes = measured(options["axes"], ndim)
    each = sampling.double().to(index.device)
    each = each.reshape(-1).expand(len(axes)) if each.numel() == 1 else of_measured(each, axes, ndim)
    steps = offsets(index, axes, each.detach(), options.get("border", False))
    gradient = torch.where(index == INDEX_NONE, 0, gradient.double())
    gradient = gradient if sign is None else gradient * sign
    if squared:
        found = [(gradient * 2 * each[k] * step**2).sum() for k, step in enumerate(steps)]
    else:
        square = sum((each[k] * step)**2 for k, step in enumerate(steps))
        far = square > 0
        share = torch.where(far, gradient / torch.where(far, square, 1).sqrt(), 0)
        found = [(share * each[k] * step**2).sum() for k, step in enumerate(steps)]
    if options.get("surface") == "half":  # less half of the smallest pitch
        least = int(each.detach().argmin())
        found[least] = found[least] - gradient.sum() / 2
    found = torch.stack(found)
    if sampling.numel() == 1:
        found = found.sum().reshape(sampling.shape)
    elif sampling.numel() == ndim:
        found = torch.zeros(ndim, dtype=found.dtype, device=found.device).index_add(0, torch.tensor(axes, device=found.device), found)
    return found.to(sampling)


def sample_gradient(gradient, index):
    """The gradient with respect to the samples: every element gives its own to the sample that won."""
    flat = index.flatten().long()
    given = torch.where(flat >= 0, gradient.flatten(), 0)
    return torch.zeros_like(given).scatter_add(0, flat.clamp(min=0), given).reshape(gradient.shape)


def set_up(name):
    def keep(ctx, inputs, keyword_only_inputs, output):
        ctx.options = complete(name, keyword_only_inputs)
        several = output if isinstance(output, tuple) else (output,)
        index = several[1] if len(several) > 1 else None
        if index is not None:
            ctx.mark_non_differentiable(index)
        ctx.save_for_backward(*inputs, several[0] if name == "signed_distance" else None, index)
    return keep


def backward(name, pitches):
    """The formula of an operator: finds the winners, unless it gave them out, and goes from them to the gradients."""
    samples, squared = name.startswith("generalized"), OPERATORS[name][0][0] == "squared"

    def formula(ctx, gradient, *_):
        input, *given, output, index = ctx.saved_tensors
        options = ctx.options
        if index is None:
            finder = "generalized_distance_with_sites" if samples else "feature_transform"
            chosen = {key: value for key, value in options.items() if key in OPERATORS[finder][1]}
            by = {} if pitches else {"sampling": options["sampling"]}
            found = operator_of(finder, pitches)(input.detach(), *[one.detach() for one in given], **chosen, **by)
            index = found[1] if samples else found
        options = options | {"axes": measured(options["axes"], input.dim())}
        of_input = sample_gradient(gradient, index).to(input.dtype) if samples and ctx.needs_input_grad[0] else None
        if not pitches:
            return of_input
        sign = None if output is None else output.sign().double()
        of_pitches = pitch_gradient(gradient, index, given[0], options, sign, squared) if ctx.needs_input_grad[1] else None
        return of_input, of_pitches
    return formula


# ---- Registration --------------------------------------------------------------------------------------------------------------

library = torch.library.Library("distmap", "DEF")


def operator_of(name, pitches):
    return getattr(getattr(torch.ops.distmap, name), "pitches" if pitches else "default")


def register(name, pitches):
    full = f"distmap::{name}{'.pitches' if pitches else ''}"
    library.define(schema(name, pitches), tags=(torch.Tag.pt2_compliant_tag,))

    def kernel(input, *given, sampling=None, **options):
        return compute(name, input, given[0].reshape(-1).tolist() if given else sampling, complete(name, options))

    def fake(input, *given, sampling=None, **options):
        made = tuple(new_outputs(name, input, complete(name, options)))
        return made if len(made) > 1 else made[0]
    for device in ("CPU", "CUDA"):
        library.impl(full.removeprefix("distmap::"), kernel, device)
    torch.library.register_fake(full, fake, lib=library)
    torch.library.register_vmap(full, batched(name, operator_of(name, pitches)), lib=library)
    has_values = OPERATORS[name][0][0] in ("distance", "squared")
    if has_values and (pitches or name.startswith("generalized")):
        torch.library.register_autograd(full, backward(name, pitches), setup_context=set_up(name), lib=library)


for registered in OPERATORS:
    register(registered, False)
    register(registered, True)

# ---- Functions -------------------------------------------------------------------------------------------------------------------


def ask(name, input, sampling, options):
    """The operator, with those of its options that are not its defaults."""
    if isinstance(sampling, Tensor):
        return getattr(torch.ops.distmap, name).pitches(input, sampling, **options)
    if sampling is not None:
        options["sampling"] = [float(sampling)] if isinstance(sampling, (int, float)) else [float(pitch) for pitch in sampling]
    return getattr(torch.ops.distmap, name).default(input, **options)


def options_of(sites="zero", **options):
    """Those of an operator: sites by their rule, the axes as a list; None for defaults is left out."""
    if isinstance(sites, str):
        options["sites"] = sites
    elif isinstance(sites, (tuple, list)):
        if len(sites) != 2:
            raise ValueError(f"sites has {len(sites)} values, a range is two: (lo, hi)")
        options |= {"sites": "range", "lo": sites[0], "hi": sites[1]}
    else:
        options |= {"sites": "value", "lo": float(sites), "hi": float(sites)}
    if isinstance(options.get("axes"), int):
        options["axes"] = [options["axes"]]
    return {key: value for key, value in options.items() if value is not None}


def edt(mask, sampling=None, sites="zero", *, indices=False, labels=False, limit=None, border=False, fill=None, axes=None,
        dtype=torch.float32):
    """distmap.edt() as an operator: the exact Euclidean distance from every element to the nearest site.

    Parameters
    ----------
    mask : tensor on a CPU or an NVIDIA GPU, of one to eight axes, any strides
    sampling : float, floats, or a tensor of them, of which there is then a gradient
        One pitch for all axes, one for each axis, or one for each of `axes`.
    dtype : torch.float32 or torch.float64
    sites, indices, labels, limit, border, fill, axes : as of distmap.edt()

    Returns
    -------
    distance, or (distance, index) with `indices`
        The distance lies in memory as the mask does, the index in C order.

    Examples
    --------
    >>> edt(torch.tensor([1, 1, 0, 1]))
    tensor([2., 1., 0., 1.])
    >>> pitch = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    >>> edt(torch.tensor([1, 1, 0, 1]), pitch).sum().backward()
    >>> pitch.grad
    tensor(4., dtype=torch.float64)
    """
    options = options_of(sites, labels=labels, limit=limit, border=border, fill=fill, axes=axes, dtype=dtype)
    return ask("edt_with_sites" if indices else "edt", plain(mask), sampling, options)


def edt_squared(mask, sampling=None, sites="zero", *, labels=False, limit=None, border=False, fill=None, axes=None, dtype=torch.float32):
    """Squared distances, rounded once to `dtype`: torch.float32 (exact below 2^24), float64, uint32 or uint64. Parameters and result as of
    edt().

    >>> edt_squared(torch.tensor([[1, 1], [0, 1]]))
    tensor([[1., 2.],
            [0., 1.]])
    """
    options = options_of(sites, labels=labels, limit=limit, border=border, fill=fill, axes=axes, dtype=dtype)
    return ask("edt_squared", plain(mask), sampling, options)


def signed_distance(mask, sampling=None, sites="zero", *, positive="outside", surface="centre", limit=None, border=False, fill=None,
                    axes=None, dtype=torch.float32):
    """distmap.signed_distance() as an operator: distances on both sides, by default negative inside the objects. Parameters as of edt() and
    distmap.signed_distance().

    >>> signed_distance(torch.tensor([0, 0, 1, 1, 1]))
    tensor([ 2.,  1., -1., -2., -3.])
    """
    if positive not in ("outside", "inside"):
        raise ValueError(f"positive is {positive!r}, must be one of outside, inside")
    of_background = isinstance(sites, str) and sites == "zero"
    sign = "inside" if (positive == "inside") != of_background else "outside"
    options = options_of(sites, sign=sign, surface=surface, limit=limit, border=border, fill=fill, axes=axes, dtype=dtype)
    return ask("signed_distance", plain(mask), sampling, options)


def feature_transform(mask, sampling=None, sites="zero", *, coords=False, limit=None, border=False, axes=None):
    """distmap.feature_transform() as an operator: the linear index of every element's nearest site, or with `coords` its coordinates, of
    shape (axes, ...). Parameters as of edt().

    >>> feature_transform(torch.tensor([[0, 1, 1, 1], [1, 1, 1, 0]]))
    tensor([[0, 0, 7, 7],
            [0, 0, 7, 7]], dtype=torch.int32)
    """
    options = options_of(sites, limit=limit, border=border, axes=axes)
    return ask("feature_coordinates" if coords else "feature_transform", plain(mask), sampling, options)


def expand_labels(labels, distance=1, sampling=None, *, axes=None):
    """distmap.expand_labels() as an operator: labels grown by `distance` into the background, which is 0, until they meet.

    >>> expand_labels(torch.tensor([0, 0, 7, 0, 0, 0, 0, 2, 0]), 2)
    tensor([7, 7, 7, 7, 7, 2, 2, 2, 2])
    """
    if not distance >= 0:
        raise ValueError(f"distance is {distance:g}, must not be negative")
    options = options_of(axes=axes, distance=float(distance))
    del options["sites"]
    return ask("expand_labels", plain(labels), sampling, options)


def generalized_distance(samples, sampling=None, *, indices=False, axes=None, dtype=None):
    """The distance transform of a sampled function: out(p) = min over q of f(q) + |p - q|^2, and its gradients.

    Parameters
    ----------
    samples : tensor of f >= 0 of one to eight axes, any strides
        Of floating-point numbers for a gradient. NaN and inf offer nothing.
    sampling, axes : as of edt()
    indices : bool
        Also the index of the sample that gives the minimum: of several the lowest one, -1 where no sample is finite.
    dtype : of the result: torch.float32, torch.float64. None: float32 for floats of 16 and 32 bits, float64 for all others.

    Returns
    -------
    values, or (values, index) with `indices`

    P. Felzenszwalb, D. Huttenlocher, "Distance Transforms of Sampled Functions", Theory of Computing 8, 2012.

    Examples
    --------
    >>> f = torch.tensor([5., 0., 9., 9., 2.], requires_grad=True)
    >>> out = generalized_distance(f)
    >>> out.tolist()
    [1.0, 0.0, 1.0, 3.0, 2.0]
    >>> out.sum().backward()
    >>> f.grad
    tensor([0., 3., 0., 0., 2.])
    """
    options = options_of(axes=axes, dtype=dtype)
    del options["sites"]
    return ask("generalized_distance_with_sites" if indices else "generalized_distance", samples, sampling, options)


def plain(mask):
    """Without a gradient, which a mask does not have."""
    return mask.detach() if mask.requires_grad else mask
