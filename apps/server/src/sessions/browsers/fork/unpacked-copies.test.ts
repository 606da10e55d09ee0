import type { InstanceCopy, PackedCopy, Placement } from "@shoal/placement";
import { expect, it } from "vitest";
import { UnpackedCopies } from "./unpacked-copies.ts";

/** A placement whose copies are complete when the test says so. */
function open() {
  const unpacking: { readonly signal: AbortSignal; readonly finish: (copy: InstanceCopy) => void }[] = [];
  const unpack: Placement["unpack"] = (_open, { signal }) => {
    const { promise, reject, resolve } = Promise.withResolvers<InstanceCopy>();
    signal.addEventListener("abort", () => {
      reject(signal.reason);
    });
    unpacking.push({ signal, finish: resolve });
    return promise;
  };
  const copies = new UnpackedCopies({ unpack });
  const get = (signal = new AbortController().signal) =>
    copies.get("snapshot", () => Promise.reject<PackedCopy>(new Error("not opened")), { project: "p", signal });
  return { get, unpacking };
}

it("goes on for the callers that stay, and shares the copy until the last of them releases it", async () => {
  const { get, unpacking } = open();
  const leaving = new AbortController();
  const [gone, stays, waits] = [get(leaving.signal), get(), get()];
  leaving.abort(new Error("gone"));
  await expect(gone).rejects.toThrow("gone");
  expect(unpacking.map(({ signal }) => signal.aborted)).toEqual([false]);
  let dropped = 0;
  const copy = { pausedMs: 0, pack: () => Promise.reject(new Error("not packed")), drop: async () => void dropped++ };
  unpacking[0]?.finish(copy);
  const used = await Promise.all([stays, waits]);
  await used[0].release();
  expect(dropped).toBe(0);
  await used[1].release();
  expect(dropped).toBe(1);
});

it("stops after the last waiting caller has left, and begins again for the next one", async () => {
  const { get, unpacking } = open();
  const leaving = new AbortController();
  const gone = [get(leaving.signal), get(leaving.signal)];
  leaving.abort(new Error("gone"));
  expect(await Promise.allSettled(gone)).toMatchObject([{ reason: { message: "gone" } }, { status: "rejected" }]);
  expect(unpacking.map(({ signal }) => signal.aborted)).toEqual([true]);
  void get().catch(() => undefined);
  expect(unpacking).toHaveLength(2);
});
