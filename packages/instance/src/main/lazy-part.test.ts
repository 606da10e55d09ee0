import { expect, it } from "vitest";
import { lazyPart } from "./lazy-part.ts";

it("is loaded once, by the first caller", async () => {
  let made = 0;
  const part = lazyPart(async () => Promise.resolve({ number: ++made }));
  part.ifBegun(() => expect.unreachable("the part was not loaded"));
  expect([part.present, part.begun, made]).toEqual([undefined, undefined, 0]);
  const [first, second] = [part.load(), part.load()];
  const told: number[] = [];
  part.ifBegun(({ number }) => told.push(number));
  expect([part.present, part.begun === first]).toEqual([undefined, true]);
  expect(await first).toBe(await second);
  part.ifBegun(({ number }) => told.push(number));
  expect(await part.begun).toBe(part.present);
  expect([part.present, told, made]).toEqual([{ number: 1 }, [1, 1], 1]);
});

it("reports a failed load to every caller of load, but not to ifBegun", async () => {
  const part = lazyPart(() => Promise.reject(new Error("no such file")));
  const first = part.load();
  part.ifBegun(() => expect.unreachable("the part failed"));
  await expect(first).rejects.toThrow("no such file");
  await expect(part.load()).rejects.toThrow("no such file");
  expect(part.present).toBeUndefined();
});
