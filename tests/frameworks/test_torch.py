"""distmap.torch: the values of distmap's own functions, PyTorch's checks of operators, compilation, vmap and gradients."""

import distmap
import numpy as np
import pytest
import torch

torch_maps = pytest.importorskip("distmap.torch")
DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()
OPS = torch.ops.distmap


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def drawn_mask(rng, device="cpu", least=1, most=3):
    shape = tuple(rng.integers(1, 9, rng.integers(least, most + 1)))
    return torch.tensor(rng.random(shape) < rng.choice([0.3, 0.8, 1.0]), device=device)


def equal(got, want):
    return np.array_equal(got.cpu().numpy(), np.asarray(want))


# Functions, and their options for distmap's function of the same name.
CALLS = {
    "edt": [{}, {"sampling": (2.5, 0.7)}, {"sampling": 0.65, "limit": 3}, {"axes": 1}, {"border": True, "dtype": torch.float64},
            {"sites": (1, None)}, {"sites": 1, "indices": True}],
    "signed_distance": [{}, {"positive": "inside", "surface": "half", "sampling": (2, 1)}, {"fill": -1}],
    "feature_transform": [{}, {"coords": True}, {"axes": 0, "sampling": 3.0}],
    "expand_labels": [{}, {"distance": 2.5, "sampling": (1, 2)}, {"distance": 0}],
}


@pytest.mark.parametrize("name, options", [(name, options) for name, several in CALLS.items() for options in several])
def test_values(name, options, rng, device):
    for _ in range(20):
        mask = drawn_mask(rng, device, 2, 2)
        kinds = [torch.uint8, torch.int32, torch.float32, torch.float16, torch.bfloat16]
        mask = mask * torch.randint(0, 4, mask.shape, device=device) if name == "expand_labels" else mask.to(kinds[rng.integers(5)])
        mask = mask.T if rng.random() < 0.3 else mask
        own = {key: str(value).removeprefix("torch.") if key == "dtype" else value for key, value in options.items()}
        want = getattr(distmap, name)(mask.cpu().float().numpy() if name != "expand_labels" else mask.cpu().numpy(), **own)
        got = getattr(torch_maps, name)(mask, **options)
        pairs = zip(got, want) if isinstance(got, tuple) else [(got, want)]
        assert all(one.device.type == device and equal(one, other) for one, other in pairs)


def test_squares(rng, device):
    mask = drawn_mask(rng, device, 2)
    mask.view(-1)[0] = False
    want = distmap.edt(mask.cpu().numpy(), squared=True)
    for dtype in (torch.float32, torch.float64, torch.uint32, torch.uint64):
        assert equal(torch_maps.edt_squared(mask, dtype=dtype), want)
    samples = torch.where(mask, 9, 0)
    assert torch_maps.generalized_distance(samples).dtype == torch.float64
    assert equal(torch_maps.generalized_distance(samples.float()),
                 distmap.transform(samples.cpu().numpy(), kind="sampled", want="squared").squared)


def test_order_in_memory(device):
    image = torch.ones((2, 3, 8, 8), device=device).to(memory_format=torch.channels_last)
    assert torch_maps.edt(image, axes=(2, 3)).is_contiguous(memory_format=torch.channels_last)


def test_errors():
    with pytest.raises(ValueError, match="spacing.* must be positive"):
        torch_maps.edt(torch.ones(3), sampling=0.0)
    with pytest.raises(ValueError, match="axes names axis 4, the array has 2"):
        torch_maps.edt(torch.ones(3, 3), axes=4)
    with pytest.raises(ValueError, match="1 to 8"):
        torch_maps.edt(torch.ones([1] * 9))
    with pytest.raises(ValueError, match="sites has 3 values"):
        torch_maps.edt(torch.ones(3), sites=(1, 2, 3))


EXAMPLES = [
    (OPS.edt.default, [], {"sampling": [1.0, 2.0], "border": True}),
    (OPS.edt_squared.default, [], {"dtype": torch.float64}),
    (OPS.edt_with_sites.default, [], {"limit": 2.0}),
    (OPS.feature_transform.default, [], {"axes": [1]}),
    (OPS.feature_coordinates.default, [], {}),
    (OPS.signed_distance.default, [], {"sign": "outside", "surface": "half"}),
    (OPS.edt.pitches, [(2,)], {"axes": [0, 1], "dtype": torch.float64}),
    (OPS.edt.pitches, [()], {"fill": 3.0}),
    (OPS.edt_squared.pitches, [(2,)], {}),
    (OPS.edt_with_sites.pitches, [(2,)], {}),
    (OPS.signed_distance.pitches, [(2,)], {"sign": "inside"}),
    (OPS.feature_transform.pitches, [(2,)], {}),
]


@pytest.mark.parametrize("op, pitches, options", EXAMPLES)
def test_opcheck(op, pitches, options, rng, device):
    mask = drawn_mask(rng, device, 2, 2)
    given = [torch.tensor(rng.uniform(0.5, 2, shape), requires_grad="feature" not in str(op)) for shape in pitches]
    torch.library.opcheck(op, (mask, *given), options)


def test_opcheck_of_values(rng, device):
    labels = drawn_mask(rng, device).long()
    torch.library.opcheck(OPS.expand_labels.default, (labels,), {"distance": 2.0})
    samples = torch.tensor(rng.uniform(0, 9, (4, 5)), device=device, requires_grad=True)
    for op in (OPS.generalized_distance, OPS.generalized_distance_with_sites):
        torch.library.opcheck(op.default, (samples,))
        torch.library.opcheck(op.pitches, (samples, torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)))


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled(dynamic, rng, device):
    """Without a graph break, also for several shapes."""
    def loss(mask, samples):
        distance, index = torch_maps.edt(mask, (2.0, 1.0), indices=True)
        signed = torch_maps.signed_distance(mask, surface="half", fill=0.0)
        grown = torch_maps.expand_labels(mask.int(), 2)
        return (distance.nan_to_num(posinf=0) * signed + index + grown).sum() + torch_maps.generalized_distance(samples, 0.5).sum()
    compiled = torch.compile(loss, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for _ in range(3):
        mask = drawn_mask(rng, device, 2, 2)
        gradients = []
        for function in (loss, compiled):
            samples = torch.rand(mask.shape, generator=torch.Generator().manual_seed(1)).to(device).requires_grad_()
            value = function(mask, samples)
            value.backward()
            gradients.append((value.detach(), samples.grad))
        assert torch.equal(gradients[0][0], gradients[1][0]) and torch.equal(gradients[0][1], gradients[1][1])


@pytest.mark.parametrize("name, options", [
    ("edt", {}), ("edt", {"axes": 1, "sampling": (3.0, 2.0)}), ("edt", {"indices": True, "sampling": (2.0, 1.0)}),
    ("edt_squared", {"border": True}), ("signed_distance", {"surface": "half"}), ("feature_transform", {}),
    ("feature_transform", {"coords": True}), ("generalized_distance", {"indices": True})])
def test_vmap(name, options, rng, device):
    function = getattr(torch_maps, name)
    batch = torch.tensor(rng.random((3, 2, 4, 5)) < 0.7, device=device)
    batch = batch.float() * 9 if name == "generalized_distance" else batch
    for dim in range(2):
        got = torch.vmap(torch.vmap(lambda mask: function(mask, **options)), in_dims=dim)(batch)
        want = [[function(mask, **options) for mask in masks] for masks in batch.movedim(dim, 0)]
        for k in range(2 if options.get("indices") else 1):
            part = (lambda result: result[k]) if options.get("indices") else (lambda result: result)
            assert torch.equal(part(got), torch.stack([torch.stack([part(one) for one in several]) for several in want]))


def test_vmap_of_pitches(rng, device):
    mask = drawn_mask(rng, device, 2, 2)
    pitches = torch.tensor(rng.uniform(0.5, 2, (3, 2)))
    want = torch.stack([torch_maps.edt(mask, one) for one in pitches])
    assert torch.equal(torch.vmap(lambda one: torch_maps.edt(mask, one))(pitches), want)
    several = torch.stack([mask, ~mask, mask])
    assert torch.equal(torch.vmap(torch_maps.edt)(several, pitches)[1], torch_maps.edt(~mask, pitches[1]))
    assert torch.equal(torch.vmap(lambda one: torch_maps.edt(one, pitches[0], axes=(1, 0)))(several)[1],
                       torch_maps.edt(~mask, pitches[0], axes=(1, 0)))


# ---- Gradients: in float64, beside differences. Drawn pitches have no ties, but for places between two sites that lie straight opposite.


def irregular(rng, shape):
    """A mask with few sites, none of two at the same distance from anywhere with pitches that are drawn."""
    mask = torch.ones(shape, dtype=torch.bool)
    mask.view(-1)[rng.choice(mask.numel(), 2, replace=False)] = False
    return mask


def unequal(mask, pitches, **options):
    """Whether small changes of the pitches change no winner."""
    found = [torch_maps.feature_transform(mask, pitches * by, **options) for by in
             (1, 1.0001, torch.tensor([1.0001, 0.9999], dtype=torch.float64), torch.tensor([0.9999, 1.0001], dtype=torch.float64))]
    return all(torch.equal(found[0], other) for other in found[1:])


@pytest.mark.parametrize("name, options", [
    ("edt", {}), ("edt", {"border": True}), ("edt", {"indices": True}), ("edt_squared", {}), ("signed_distance", {}),
    ("signed_distance", {"surface": "half", "positive": "inside"})])
def test_gradient_of_pitches(name, options, rng, device):
    """The values for a mask on any device, the pitches in host memory."""
    function, tried = getattr(torch_maps, name), 0
    for _ in range(60):
        mask = irregular(rng, (4, 5))
        pitches = torch.tensor(rng.uniform(0.5, 2, 2), requires_grad=True)
        if not unequal(mask, pitches.detach(), border=options.get("border", False)):
            continue
        tried += 1

        def values(by):
            result = function(mask.to(device), by, dtype=torch.float64, **options)
            return result[0] if isinstance(result, tuple) else result
        torch.autograd.gradcheck(values, (pitches,), eps=1e-6)
        if tried == 3:
            torch.autograd.gradgradcheck(values, (pitches,), eps=1e-6)
    assert tried > 5


def test_gradient_of_one_pitch(rng):
    """One for all axes is the sum of those of the axes; one for each axis of which some are measured has zeros."""
    mask = irregular(rng, (4, 5))
    one = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    each = torch.tensor([0.7, 0.7], dtype=torch.float64, requires_grad=True)
    along = torch.tensor([0.7, 0.7], dtype=torch.float64, requires_grad=True)
    for pitches in (one, each):
        torch_maps.edt(mask, pitches).sum().backward()
    assert torch.isclose(one.grad, each.grad.sum())
    turned = torch.tensor([0.7, 1.1], dtype=torch.float64)
    for axes in (None, (1, 0)):
        by = turned.clone().requires_grad_()
        assert torch.autograd.gradcheck(lambda by: torch_maps.edt_squared(mask, by, axes=axes, dtype=torch.float64), (by,))
    torch_maps.edt(mask, along, axes=1).nan_to_num(posinf=0).sum().backward()
    assert along.grad[0] == 0 and along.grad[1] > 0


def test_gradient_of_samples(rng, device):
    for _ in range(10):
        shape = tuple(rng.integers(2, 5, rng.integers(1, 4)))
        samples = torch.tensor(rng.uniform(0.1, 4, shape), device=device, requires_grad=True)
        pitches = torch.tensor(rng.uniform(0.5, 2, len(shape)), requires_grad=True)
        assert torch.autograd.gradcheck(torch_maps.generalized_distance, (samples, pitches), eps=1e-7)
        assert torch.autograd.gradcheck(lambda f: torch_maps.generalized_distance(f, axes=0, indices=True)[0], (samples,), eps=1e-7)
    assert torch.autograd.gradgradcheck(lambda f: torch_maps.generalized_distance(f)**2, (samples,), eps=1e-7)


def test_gradients_through_vmap(rng, device):
    samples = torch.tensor(rng.uniform(0, 4, (3, 4, 5)), device=device, requires_grad=True)
    pitches = torch.tensor(rng.uniform(0.5, 2, (3, 2)), requires_grad=True)
    for function in (lambda f, by: torch_maps.generalized_distance(f, by)**2, lambda f, by: torch_maps.edt(f < 2, by).nan_to_num(posinf=0)):
        got = torch.autograd.grad(torch.vmap(function)(samples, pitches).sum(), (samples, pitches), allow_unused=True)
        want = torch.autograd.grad(sum(function(*pair).sum() for pair in zip(samples, pitches)), (samples, pitches), allow_unused=True)
        assert all(torch.equal(one, other) for one, other in zip(got, want) if one is not None)


def test_no_gradient_without_a_site():
    pitches = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    torch_maps.edt(torch.ones(3, 3), pitches).nan_to_num(posinf=5.0).sum().backward()
    assert pitches.grad.eq(0).all()
    samples = torch.full((3, 3), torch.inf, requires_grad=True)
    torch_maps.generalized_distance(samples).nan_to_num(posinf=1.0).sum().backward()
    assert samples.grad.eq(0).all()


def test_masks_have_none():
    mask = torch.rand(4, 4, requires_grad=True)
    assert not torch_maps.edt(mask).requires_grad


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_graph(rng):
    """Inside a CUDA graph, replayed on another mask."""
    mask = torch.rand((64, 64), device="cuda") < 0.9
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch_maps.edt(mask)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        distance = torch_maps.edt(mask)
    mask.copy_(torch.rand((64, 64), device="cuda") < 0.9)
    graph.replay()
    assert equal(distance, distmap.edt(mask.cpu().numpy()))


@pytest.mark.parametrize("dtype", ["float16", "uint8"])
def test_converted(dtype, rng, device):
    """Outputs of distmap.edt() that are converted from float64, as NumPy converts them. PyTorch alone would go by way of float32."""
    mask = torch.ones((300, 5000), dtype=torch.uint8, device=device)
    mask.view(-1)[torch.tensor(rng.choice(mask.numel(), 3), device=device)] = 0
    options = {"scale": 0.3} if dtype == "uint8" else {}
    for out in (None, torch.empty(mask.shape, dtype=getattr(torch, dtype), device=device)):
        got = distmap.edt(mask, dtype=None if out is not None else dtype, out=out, **options)
        assert equal(got, distmap.edt(mask.cpu().numpy(), dtype=dtype, **options)) and (out is None or got is out)


def test_tensors_of_host(rng):
    """distmap's own functions: results are tensors, `out` is what is returned, in the order in memory of the mask."""
    for dtype in (torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float64):
        mask = (torch.rand(9, 8) < 0.8).to(dtype)
        for _ in range(2):
            want = distmap.edt(mask.float().numpy(), 0.7, indices=True, dtype="float64")
            got = distmap.edt(mask, 0.7, indices=True, dtype=torch.float64)
            assert all(isinstance(one, torch.Tensor) and equal(one, other) for one, other in zip(got, want))
            out = torch.empty(9, 8)
            assert distmap.edt(mask, out=out) is out and equal(out, distmap.edt(mask.float().numpy()))
            assert distmap.edt(mask, out=out, indices=True)[0] is out
            assert distmap.edt(mask.T).stride() == (1, 8)
    with pytest.raises(ValueError, match="requires a gradient"):
        distmap.edt(mask, out=torch.empty(9, 8, requires_grad=True))
    with pytest.raises(TypeError, match="complex64"):
        distmap.edt(torch.ones(3, dtype=torch.complex64))
    assert distmap.edt(torch.tensor(0)).shape == ()
