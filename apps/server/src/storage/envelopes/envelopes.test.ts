import fc from "fast-check";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { StartError } from "../../config/start-error.ts";
import { Envelopes } from "./envelopes.ts";
import { type MasterKeySettings, openMasterKeys } from "./master-keys.ts";

const folder = mkdtempSync(join(tmpdir(), "shoal-envelopes-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const [first, second] = ["a".repeat(43), "b".repeat(43)];
const place = { projectId: "p1", id: "c1", field: "credentials.totp" };

async function open(settings: Partial<MasterKeySettings> = {}, serverSecret = first, installation = "o1") {
  return new Envelopes(await openMasterKeys({ master_key: "secret_key", ...settings }, { serverSecret, installation }));
}

async function problemOf(action: Promise<unknown>): Promise<string> {
  const error: unknown = await action.catch((reason: unknown) => reason);
  return error instanceof Error ? `${error.message} ${StartError.isInstance(error) ? error.hint : ""}` : "no error";
}

/** A module of an operator: a cipher that is good enough for a test. */
function moduleWith(keyId: string, body = ""): string {
  const path = join(folder, `${keyId.replaceAll(/\W/g, "")}-${String(Math.random()).slice(2)}.mjs`);
  writeFileSync(
    path,
    `const flip = (bytes) => Promise.resolve(bytes.map((byte) => byte ^ 90));
     export const createKeyManagement = () => ({ keyId: ${JSON.stringify(keyId)}, wrap: flip, unwrap: flip, ${body} });`,
  );
  return path;
}

describe("sealed values", () => {
  it("open in their own place only, and only unchanged", async () => {
    const envelopes = await open();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.string(), fc.nat(), async (text, id, at) => {
        const here = { ...place, id };
        const sealed = await envelopes.seal(text, here);
        expect(await envelopes.unseal(sealed, here)).toBe(text);
        for (const other of [
          { ...here, id: `${id}x` },
          { ...here, projectId: "p2" },
          { ...here, field: "credential_values.a" },
        ])
          expect(await problemOf(envelopes.unseal(sealed, other))).toContain("changed or moved");
        const changed = Buffer.from(sealed);
        const index = at % changed.length;
        changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
        expect(await problemOf(envelopes.unseal(changed, here))).not.toBe("no error");
        expect(await problemOf(envelopes.unseal(sealed.subarray(0, index), here))).not.toBe("no error");
      }),
      { numRuns: 50 },
    );
  });

  it("have a data key each", async () => {
    const envelopes = await open();
    const [one, other] = [await envelopes.seal("same", place), await envelopes.seal("same", place)];
    expect(one.equals(other)).toBe(false);
    expect(one.includes("same")).toBe(false);
  });

  it("open with a previous secret_key, and after a rewrap without it", async () => {
    const before = await open();
    const sealed = await before.seal("value", place);
    const without = await open({}, second);
    expect(await problemOf(without.unseal(sealed, place))).toMatch(
      /master key secret_key:[0-9a-f]{24}.*previous_secret_keys/,
    );
    const rotated = await open({ previous_secret_keys: [first] }, second);
    expect(await rotated.unseal(sealed, place)).toBe("value");
    const rewrapped = await rotated.rewrap(sealed);
    expect(rewrapped.subarray(0, 40).equals(sealed.subarray(0, 40))).toBe(false);
    expect(await without.unseal(rewrapped, place)).toBe("value");
    expect(await problemOf(before.unseal(rewrapped, place))).toContain("does not have");
    expect(await problemOf(without.unseal(rewrapped, { ...place, id: "c2" }))).toContain("changed or moved");
  });
});

describe("a passphrase", () => {
  const settings = { master_key: "passphrase", master_key_passphrase: "correct horse battery" } as const;

  it("is the master key of one installation, and can be changed", async () => {
    const sealed = await (await open(settings)).seal("value", place);
    const again: Envelopes = await open(settings, second);
    expect(await again.unseal(sealed, place)).toBe("value");
    expect(await problemOf((await open(settings, first, "o2")).unseal(sealed, place))).toContain("does not have");
    const changed = await open({
      ...settings,
      master_key_passphrase: "another passphrase",
      previous_master_key_passphrases: ["correct horse battery"],
    });
    expect(await changed.unseal(await changed.rewrap(sealed), place)).toBe("value");
  });

  it("must be set", async () => {
    expect(await problemOf(open({ master_key: "passphrase" }))).toContain("Set master_key_passphrase");
  });
});

describe("a key management module", () => {
  it("wraps data keys, also under its earlier keys, next to keys of other sources", async () => {
    const earlier = await open();
    const old = await earlier.seal("old", place);
    const one = await open({ master_key: "module", master_key_module: moduleWith("arn:aws:kms:1") });
    const two = await open({ master_key: "module", master_key_module: moduleWith("arn:aws:kms:2") });
    const sealed = await one.seal("value", place);
    expect(sealed.includes("module:arn:aws:kms:1")).toBe(true);
    expect(await two.unseal(sealed, place)).toBe("value");
    expect(await two.unseal(await two.rewrap(old), place)).toBe("old");
    expect(await problemOf(earlier.unseal(sealed, place))).toContain("set master_key_module");
  });

  it.each([
    ["fails", "wrap: () => Promise.reject(new Error('denied for token hunter2'))", "could not wrap"],
    ["throws", "wrap() { throw new Error('hunter2') }", "could not wrap"],
    ["returns too much", "wrap: () => Promise.resolve(new Uint8Array(4097))", "4097 bytes; the limit is 4096"],
    ["returns a text", "wrap: () => Promise.resolve('hunter2')", "returned no bytes"],
  ])("that %s is reported without its message", async (_, body, problem) => {
    const envelopes = await open({ master_key: "module", master_key_module: moduleWith("k", body) });
    const message = await problemOf(envelopes.seal("value", place));
    expect(message).toContain(problem);
    expect(message).not.toContain("hunter2");
  });

  it("is checked at the start", async () => {
    const bad = join(folder, "bad.mjs");
    writeFileSync(bad, "export const other = 1;");
    for (const path of [bad, join(folder, "missing.mjs"), moduleWith("with spaces")])
      expect(await problemOf(open({ master_key: "module", master_key_module: path }))).toContain(
        "createKeyManagement()",
      );
    expect(await problemOf(open({ master_key: "module" }))).toContain("Set master_key_module");
  });
});
