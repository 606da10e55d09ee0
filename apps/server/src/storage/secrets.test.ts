import fc from "fast-check";
import { expect, it } from "vitest";
import { createId, isId } from "@shoal/primitives";
import { createSecrets } from "./secrets.ts";

const secrets = createSecrets("a".repeat(43));
const others = createSecrets("b".repeat(43));

it("signs tokens for one session of one installation", async () => {
  const token = secrets.signSession("s1", "k1");
  expect(await secrets.verifySession(token)).toEqual({ sessionId: "s1", keyId: "k1" });
  expect(secrets.signSession("s1", "k1")).toBe(token);
  expect(await others.verifySession(token)).toBeUndefined();
  expect(await secrets.verifySession(`${token}x`)).toBeUndefined();
  const [, payload = "", signature = ""] = token.split(".");
  const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
  expect(await secrets.verifySession(unsigned)).toBeUndefined();
  expect(await secrets.verifySession(`.${payload}.${signature}`)).toBeUndefined();
  expect(await secrets.verifySession("")).toBeUndefined();
});

it("encrypts texts that only the same secret and purpose decrypt, and only unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string(), fc.nat(), (text, purpose, at) => {
      const sealed = secrets.seal(text, purpose);
      expect(secrets.unseal(sealed, purpose)).toBe(text);
      expect(secrets.unseal(sealed, `${purpose}x`)).toBeUndefined();
      expect(others.unseal(sealed, purpose)).toBeUndefined();
      const changed = Buffer.from(sealed);
      const index = at % changed.length;
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(secrets.unseal(changed, purpose)).toBeUndefined();
      expect(secrets.unseal(sealed.subarray(0, index), purpose)).toBeUndefined();
    }),
  );
});

it("creates unique identifiers of a letter and 23 letters or digits", () => {
  const ids = Array.from({ length: 2000 }, createId);
  expect(ids.every(isId)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});
