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

it("opens what an earlier secret stored, and no address of its time", async () => {
  const changed = createSecrets("b".repeat(43), ["c".repeat(43), "a".repeat(43)]);
  const sealed = secrets.seal("text", "purpose");
  expect(changed.unsealStored(sealed, "purpose")).toBe("text");
  expect(changed.unsealStored(sealed, "other")).toBeUndefined();
  expect(changed.unseal(sealed, "purpose")).toBeUndefined();
  expect(others.unsealStored(sealed, "purpose")).toBeUndefined();
  expect(others.unseal(changed.seal("text", "purpose"), "purpose")).toBe("text");
  const signature = secrets.sign("use", "text");
  expect(changed.hasSignedStored("use", "text", signature)).toBe(true);
  expect(changed.hasSignedStored("use", "texts", signature)).toBe(false);
  expect(changed.hasSigned("use", "text", signature)).toBe(false);
  expect(await changed.verifySession(secrets.signSession("s1", "k1"))).toBeUndefined();
  const salt = new Uint8Array(32);
  expect(changed.keysOfStream(salt, "p")).toEqual([
    ...others.keysOfStream(salt, "p"),
    ...createSecrets("c".repeat(43)).keysOfStream(salt, "p"),
    ...secrets.keysOfStream(salt, "p"),
  ]);
});

it("creates unique identifiers of a letter and 23 letters or digits", () => {
  const ids = Array.from({ length: 2000 }, createId);
  expect(ids.every(isId)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});
