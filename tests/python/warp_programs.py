"""Programs of NVIDIA's Warp, built from its sources, on Ordito's device: kernels, gradients, tiles, geometry, sparse
matrices, sorts and scans of its library, streams and graphs, each against NumPy."""
import numpy as np
import warp as wp

DEVICE = "cuda:0"
generator = np.random.default_rng(18)
TILE = 16


@wp.struct
class Body:
    place: wp.vec3
    mass: float


@wp.kernel
def centre(bodies: wp.array(dtype=Body), total: wp.array(dtype=wp.vec4)):
    body = bodies[wp.tid()]
    wp.atomic_add(total, 0, wp.vec4(body.place[0] * body.mass, body.place[1] * body.mass, body.place[2] * body.mass,
                                    body.mass))


@wp.kernel
def energy(x: wp.array(dtype=float), k: float, out: wp.array(dtype=float)):
    at = wp.tid()
    wp.atomic_add(out, 0, 0.5 * k * x[at] * x[at] + wp.sin(x[at]))


@wp.kernel
def product(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    row, column = wp.tid()
    total = wp.tile_zeros(shape=(TILE, TILE), dtype=float)
    for k in range(a.shape[1] // TILE):
        left = wp.tile_load(a, shape=(TILE, TILE), offset=(row * TILE, k * TILE))
        right = wp.tile_load(b, shape=(TILE, TILE), offset=(k * TILE, column * TILE))
        wp.tile_matmul(left, right, total)
    wp.tile_store(out, total, offset=(row * TILE, column * TILE))


@wp.kernel
def row_sums(a: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    row = wp.tid()
    wp.tile_store(out, wp.tile_sum(wp.tile_load(a[row], shape=64)), offset=row)


@wp.kernel
def nearest(mesh: wp.uint64, points: wp.array(dtype=wp.vec3), distance: wp.array(dtype=float)):
    at = wp.tid()
    query = wp.mesh_query_point_no_sign(mesh, points[at], 10.0)
    distance[at] = wp.length(points[at] - wp.mesh_eval_position(mesh, query.face, query.u, query.v))


@wp.kernel
def neighbours(grid: wp.uint64, points: wp.array(dtype=wp.vec3), radius: float, count: wp.array(dtype=int)):
    at = wp.tid()
    near = int(0)
    for other in wp.hash_grid_query(grid, points[at], radius):
        if wp.length(points[other] - points[at]) < radius:
            near += 1
    count[at] = near


@wp.kernel
def add_one(x: wp.array(dtype=float)):
    at = wp.tid()
    x[at] = x[at] + 1.0


def device_array(values, dtype=float, **keywords):
    return wp.array(values, dtype=dtype, device=DEVICE, **keywords)


def structures():
    bodies = np.zeros(1000, Body.numpy_dtype())
    bodies["place"], bodies["mass"] = generator.random((1000, 3)), generator.random(1000)
    total = wp.zeros(1, dtype=wp.vec4, device=DEVICE)
    wp.launch(centre, 1000, inputs=[wp.array(bodies, dtype=Body, device=DEVICE), total], device=DEVICE)
    expected = np.append((bodies["place"] * bodies["mass"][:, None]).sum(0), bodies["mass"].sum())
    np.testing.assert_allclose(total.numpy()[0], expected, rtol=1e-4)


def gradients():
    values = generator.random(500).astype(np.float32)
    x, out = device_array(values, requires_grad=True), wp.zeros(1, dtype=float, device=DEVICE, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(energy, 500, inputs=[x, 3.0, out], device=DEVICE)
    tape.backward(out)
    np.testing.assert_allclose(x.grad.numpy(), 3 * values + np.cos(values), rtol=1e-5)


def tiles():
    a, b = (generator.random((64, 64)).astype(np.float32) for _ in range(2))
    out = wp.zeros((64, 64), dtype=float, device=DEVICE)
    wp.launch_tiled(product, dim=(4, 4), inputs=[device_array(a), device_array(b), out], block_dim=64, device=DEVICE)
    np.testing.assert_allclose(out.numpy(), a @ b, rtol=1e-4)
    sums = wp.zeros(64, dtype=float, device=DEVICE)
    wp.launch_tiled(row_sums, dim=[64], inputs=[device_array(a), sums], block_dim=64, device=DEVICE)
    np.testing.assert_allclose(sums.numpy(), a.sum(1), rtol=1e-5)


def geometry():
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)
    faces = [0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3]
    mesh = wp.Mesh(device_array(corners, wp.vec3), device_array(np.array(faces, np.int32), int))
    points = (generator.random((300, 3)) * 3 - 1).astype(np.float32)
    distance = wp.zeros(300, dtype=float, device=DEVICE)
    wp.launch(nearest, 300, inputs=[mesh.id, device_array(points, wp.vec3), distance], device=DEVICE)
    outside = np.linalg.norm(np.maximum(np.maximum(-points, points - 1), 0), axis=1)
    inside = np.minimum(points, 1 - points).min(1)
    np.testing.assert_allclose(distance.numpy(), np.where(outside > 0, outside, inside), atol=1e-5)
    grid = wp.HashGrid(32, 32, 32, device=DEVICE)
    on_device = device_array(points, wp.vec3)
    grid.build(on_device, 0.4)
    count = wp.zeros(300, dtype=int, device=DEVICE)
    wp.launch(neighbours, 300, inputs=[grid.id, on_device, 0.4, count], device=DEVICE)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert (count.numpy() == (apart < 0.4).sum(1)).all()


def library():
    """What Warp's own kernels and those of CUB do: sorts, scans, sums, runs, sparse products."""
    import warp.sparse as sparse

    keys = generator.permutation(1000).astype(np.int32)
    both = device_array(np.concatenate([keys, keys]), int), device_array(np.arange(2000, dtype=np.int32), int)
    wp.utils.radix_sort_pairs(*both, 1000)
    assert (both[0].numpy()[:1000] == np.arange(1000)).all() and (both[1].numpy()[:1000] == np.argsort(keys)).all()
    values, sums = device_array(keys, int), wp.zeros(1000, dtype=int, device=DEVICE)
    wp.utils.array_scan(values, sums, inclusive=True)
    assert (sums.numpy() == np.cumsum(keys)).all()
    assert wp.utils.array_sum(device_array(np.ones(777, np.float32))) == 777
    rows, columns = generator.integers(0, 40, (2, 300)).astype(np.int32)
    entries = generator.random(300).astype(np.float32)
    dense = np.zeros((40, 40), np.float32)
    np.add.at(dense, (rows, columns), entries)
    matrix = sparse.bsr_zeros(40, 40, float, device=DEVICE)
    sparse.bsr_set_from_triplets(matrix, device_array(rows, int), device_array(columns, int), device_array(entries))
    x = generator.random(40).astype(np.float32)
    np.testing.assert_allclose(sparse.bsr_mv(matrix, device_array(x)).numpy(), dense @ x, rtol=1e-4)
    square = sparse.bsr_mm(matrix, matrix)
    np.testing.assert_allclose(sparse.bsr_mv(square, device_array(x)).numpy(), dense @ dense @ x, rtol=1e-3)


def streams_and_graphs():
    x = wp.zeros(100, dtype=float, device=DEVICE)
    wp.load_module(device=DEVICE)
    with wp.ScopedCapture(device=DEVICE) as capture:
        for _ in range(3):
            wp.launch(add_one, 100, inputs=[x], device=DEVICE)
    assert (x.numpy() == 0).all()
    for _ in range(2):
        wp.capture_launch(capture.graph)
    stream, event = wp.Stream(DEVICE), wp.Event(DEVICE)
    wp.record_event(event)
    with wp.ScopedStream(stream):
        wp.wait_event(event)
        wp.launch(add_one, 100, inputs=[x], device=DEVICE)
    wp.synchronize_device(DEVICE)
    assert (x.numpy() == 7).all()


def main():
    wp.init()
    for part in (structures, gradients, tiles, geometry, library, streams_and_graphs):
        part()
        print(f"{part.__name__.replace('_', ' ')}: right", flush=True)


main()
