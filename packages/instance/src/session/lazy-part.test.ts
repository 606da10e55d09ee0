import { expect, it } from "vitest";
import { lazyPart } from "./lazy-part.ts";

it("is made once, by the first who needs it", async () => {
  let made = 0;
  const part = lazyPart(async () => Promise.resolve({ number: ++made }));
  part.ifBegun(() => expect.unreachable("nobody has needed it"));
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

it("tells all who ask where it cannot be made, and nobody else", async () => {
  const part = lazyPart(() => Promise.reject(new Error("no such file")));
  const first = part.load();
  part.ifBegun(() => expect.unreachable("there is none"));
  await expect(first).rejects.toThrow("no such file");
  await expect(part.load()).rejects.toThrow("no such file");
  expect(part.present).toBeUndefined();
});
