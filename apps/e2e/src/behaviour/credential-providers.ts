import { describe, expect, it } from "vitest";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import type { ServiceUnderTest } from "./open-service.ts";

export function describeCredentialProviders(test: ServiceUnderTest): void {
  const vault = (name: string) => ({
    provider_type: "vault",
    name,
    token: "hvs.secret",
    settings: { address: "https://vault.example:8200", mount: "kv" },
  });

  describe("credential providers", () => {
    it("are created, changed and deleted, and never show their token", async () => {
      const { credentialProviders } = test.shoal;
      const name = test.unique("vault");
      const made = await credentialProviders.create(vault(name));
      expect(made).toEqual({
        id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/) as unknown,
        provider_type: "vault",
        name,
        enabled: true,
        priority: 0,
        settings: { address: "https://vault.example:8200", mount: "kv" },
        cache_ttl_seconds: 300,
        created_at: expect.stringMatching(/Z$/) as unknown,
        updated_at: expect.stringMatching(/Z$/) as unknown,
      });
      expect(await credentialProviders.get(made.id)).toEqual(made);
      const changes = { enabled: false, priority: 4, cache_ttl_seconds: 0, settings: { mount: null, path: "logins" } };
      const changed = await credentialProviders.update(made.id, changes);
      expect(changed).toMatchObject({ enabled: false, priority: 4, cache_ttl_seconds: 0 });
      expect(changed.settings).toEqual({ address: "https://vault.example:8200", path: "logins" });
      await credentialProviders.delete(made.id);
      expect(await codeOf(credentialProviders.get(made.id))).toBe("404 not_found");
      expect(await codeOf(credentialProviders.update(made.id, {}))).toBe("404 not_found");
      expect(await codeOf(credentialProviders.delete(made.id))).toBe("404 not_found");
      expect(await codeOf(credentialProviders.test(made.id))).toBe("404 not_found");
      expect(await codeOf(credentialProviders.listItems(made.id))).toBe("404 not_found");
    });

    it("are listed in the order in which they are asked, and found by a part of their name", async () => {
      const { credentialProviders } = test.shoal;
      const part = test.unique("ordered");
      for (const [suffix, priority] of [
        ["b", 2],
        ["a", 1],
        ["c", 2],
      ] as const)
        await credentialProviders.create({ ...vault(`${part} ${suffix}`), priority });
      const { items } = await credentialProviders.list({ query: part.toUpperCase() });
      expect(items.map(({ name }) => name)).toEqual([`${part} a`, `${part} b`, `${part} c`]);
    });

    it("have unique names, known kinds, and addresses that change only with the token", async () => {
      const { credentialProviders } = test.shoal;
      const name = test.unique("unique");
      const { id } = await credentialProviders.create(vault(name));
      expect(await codeOf(credentialProviders.create(vault(name)))).toBe("409 name_taken");
      const other = await credentialProviders.create(vault(test.unique("unique")));
      expect(await codeOf(credentialProviders.update(other.id, { name }))).toBe("409 name_taken");
      expect(await refusalOf(credentialProviders.create({ ...vault("x"), provider_type: "keychain" }))).toMatchObject({
        status: 400,
        message: expect.stringContaining("keychain") as unknown,
      });
      const settings = { address: "https://elsewhere.example" };
      expect(await codeOf(credentialProviders.update(id, { settings }))).toBe("400 bad_request");
      expect((await credentialProviders.update(id, { settings, token: "hvs.new" })).settings).toMatchObject(settings);
    });
  });
}
