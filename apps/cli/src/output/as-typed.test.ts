import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { asTyped, writeAsTyped } from "./as-typed.ts";

it.each([
  ["Log in with: shoal login", "Log in with: ./shoal login"],
  [
    '`shoal serve` starts one. "shoal login" (shoal doctor)',
    '`./shoal serve` starts one. "./shoal login" (./shoal doctor)',
  ],
  ["shoal browsers list\nshoal --help\n", "./shoal browsers list\n./shoal --help\n"],
  ["Shoal answers. ~/.local/share/shoal and @shoal/server stay, as does not-shoal list.", undefined],
  ["my-shoal list, shoal-server, SHOAL_API_KEY, the user shoal", undefined],
])("names the command as typed in %j", (text, expected = text) => {
  expect(asTyped(text, "./shoal")).toBe(expected);
  expect(asTyped(text, "shoal")).toBe(text);
});

it("does so for everything that a stream gets, except for bytes", async () => {
  const stream = writeAsTyped(new PassThrough(), "/opt/clone/shoal");
  stream.write("Run shoal doctor. ");
  stream.end(Buffer.from("shoal doctor"));
  expect(Buffer.concat((await stream.toArray()) as Buffer[]).toString()).toBe(
    "Run /opt/clone/shoal doctor. shoal doctor",
  );
});
