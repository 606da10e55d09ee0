import { describe, expect, it } from "vitest";
import { allOf } from "../testing/all-of.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import type { ServiceUnderTest } from "./open-service.ts";

const secret = "JBSWY3DPEHPK3PXP";
const time = expect.stringMatching(/^\d{4}-.*Z$/) as unknown;

export function describeCredentials(test: ServiceUnderTest): void {
  const create = (change: Partial<Parameters<typeof test.shoal.credentials.create>[0]> = {}) =>
    test.shoal.credentials.create({
      name: test.unique("login"),
      domain: "example.com",
      values: { username: "ada", password: "correct-horse" },
      ...change,
    });

  describe("credentials", () => {
    it("are stored, found by id and by name, and deleted, and never return their values", async () => {
      const { credentials } = test.shoal;
      const name = test.unique("Ünique login");
      const made = await create({ name, domain: "Login.Example.COM" });
      expect(made).toEqual({
        id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/) as unknown,
        name,
        domain: "login.example.com",
        sites: [],
        has_values: true,
        has_totp_secret: false,
        value_keys: ["password", "username"],
        sso_provider: null,
        created_at: time,
        updated_at: time,
      });
      expect(await credentials.get(made.id)).toEqual(made);
      expect(await credentials.get(name)).toEqual(made);
      await credentials.delete(name);
      for (const call of [
        () => credentials.get(made.id),
        () => credentials.update(made.id, { name }),
        () => credentials.delete(made.id),
        () => credentials.totpCode(made.id),
      ])
        expect(await codeOf(call())).toBe("404 not_found");
    });

    it("have unique names", async () => {
      const { credentials } = test.shoal;
      const first = await create();
      const second = await create();
      expect(await codeOf(create({ name: first.name }))).toBe("409 name_taken");
      expect(await codeOf(credentials.update(second.id, { name: first.name }))).toBe("409 name_taken");
      const renamed = await credentials.update(second.id, { name: test.unique("renamed") });
      expect((await credentials.get(renamed.name)).id).toBe(second.id);
    });

    it("remove values before they add and replace others", async () => {
      const { credentials } = test.shoal;
      const { id } = await create({ values: { username: "ada", password: "old", pin: "1234" } });
      const changed = await credentials.update(id, {
        remove_value_keys: ["pin", "username", "unknown"],
        values: { username: "grace", company: "navy" },
      });
      expect(changed.value_keys).toEqual(["company", "password", "username"]);
      expect((await credentials.update(id, { values: { password: "new" } })).value_keys).toEqual(changed.value_keys);
      const emptied = await credentials.update(id, { remove_value_keys: ["company", "password", "username"] });
      expect(emptied).toMatchObject({ value_keys: [], has_values: false });
      expect(await credentials.get(id)).toEqual(emptied);
    });

    it("have at most 100 values", async () => {
      const { credentials } = test.shoal;
      const many = (count: number, prefix: string) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${String(index)}`, "x"]));
      const { id } = await create({ values: many(100, "a") });
      expect(await refusalOf(credentials.update(id, { values: { one: "more" } }))).toMatchObject({
        status: 400,
        message: expect.stringContaining("body.values") as unknown,
      });
      await credentials.update(id, { values: many(100, "b"), remove_value_keys: Object.keys(many(100, "a")) });
      expect(await codeOf(create({ values: many(101, "a") }))).toBe("400 bad_request");
    });

    it("generate one-time codes, and show one when the secret is set", async () => {
      const { credentials } = test.shoal;
      const made = await create({ totp_secret: "jbsw y3dp-ehpk 3pxp" });
      expect(made).toMatchObject({
        has_totp_secret: true,
        totp_code: expect.stringMatching(/^\d{6}$/) as unknown,
        totp_code_expires_at: time,
      });
      const { id } = made;
      expect(await credentials.get(id)).not.toHaveProperty("totp_code");
      const askedAtMs = Date.now();
      const { code, expires_at } = await credentials.totpCode(id);
      expect(code).toMatch(/^\d{6}$/);
      expect(Date.parse(expires_at)).toBeGreaterThanOrEqual(askedAtMs);
      expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.now() + 30_000);

      const settings = { totp_algorithm: "SHA512", totp_digits: 8, totp_period: 60 } as const;
      const set = await credentials.update(id, { totp_secret: secret, ...settings });
      expect(set.totp_code).toMatch(/^\d{8}$/);
      expect((await credentials.totpCode(id)).code).toMatch(/^\d{8}$/);
      for (const unused of [
        { totp_digits: 8 },
        { totp_algorithm: "SHA256" },
        { totp_period: 60, totp_secret: "" },
      ] as const)
        expect(await codeOf(credentials.update(id, unused))).toBe("400 bad_request");
      const stated = `otpauth://totp/Shop:ada?secret=${secret}&digits=7`;
      expect((await credentials.update(id, { totp_secret: stated, totp_digits: 8 })).totp_code).toMatch(/^\d{7}$/);
      const uri = `otpauth://totp/Shop:ada?secret=${secret}&digits=8&period=60&algorithm=SHA256`;
      expect((await credentials.update(id, { totp_secret: uri })).totp_code).toMatch(/^\d{8}$/);
      expect((await credentials.totpCode(id)).code).toMatch(/^\d{8}$/);
      expect(await credentials.update(id, { values: { pin: "1" } })).not.toHaveProperty("totp_code");

      const removed = await credentials.update(id, { totp_secret: "" });
      expect(removed.has_totp_secret).toBe(false);
      expect(removed).not.toHaveProperty("totp_code");
      expect(await codeOf(credentials.totpCode(id))).toBe("404 not_found");
    });

    it.each([
      ["not-base32!", "expected Base32"],
      [`otpauth://totp/x?secret=${secret}&algorithm=MD5`, '"MD5" is not one of SHA1, SHA256, SHA512'],
      [`otpauth://hotp/x?secret=${secret}&counter=1`, "only time-based codes"],
    ])("refuse the secret %s without repeating it", async (totp_secret, problem) => {
      const { message, status } = await refusalOf(create({ totp_secret }));
      expect([status, message]).toEqual([400, expect.stringContaining(`body.totp_secret: `) as unknown]);
      expect(message).toContain(problem);
      expect(message).not.toContain(secret);
      expect(message).not.toContain("not-base32");
    });

    it.each(["https://example.com", "example.com/login", "*.example.com", "exa mple.com"])(
      "refuse the domain %s",
      async (domain) => {
        expect(await refusalOf(create({ domain }))).toMatchObject({
          status: 400,
          message: expect.stringContaining("body.domain") as unknown,
        });
      },
    );

    it("keep the sign-in provider until it is removed", async () => {
      const { credentials } = test.shoal;
      const { id } = await create({ values: {}, sso_provider: "google" });
      expect(await credentials.update(id, {})).toMatchObject({ sso_provider: "google", has_values: false });
      expect((await credentials.update(id, { sso_provider: "" })).sso_provider).toBeNull();
      await credentials.update(id, { sso_provider: "github" });
      expect((await credentials.update(id, { sso_provider: null })).sso_provider).toBeNull();
    });

    it("are listed newest first, without the names of values, by domain and by text", async () => {
      const { credentials } = test.shoal;
      const domain = `${test.unique("shop")}.example`;
      const made = [await create({ domain }), await create({ domain }), await create({ domain: `www.${domain}` })];
      const ids = made.map(({ id }) => id);
      const listed = await allOf(await credentials.list({ domain: domain.toUpperCase(), limit: 1 }));
      expect(listed.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
      expect(listed[0]).not.toHaveProperty("value_keys");
      expect(listed[0]).toMatchObject({ has_values: true, has_totp_secret: false });
      const found = async (query: string) => (await allOf(await credentials.list({ query }))).map(({ id }) => id);
      expect(await found(domain.toUpperCase())).toEqual(ids.toReversed());
      expect(await found(made[0]?.name.toUpperCase() ?? "")).toContain(ids[0]);
      expect(await found(ids[2] ?? "")).toEqual([ids[2]]);
      expect((await credentials.list({ domain: "not a domain" })).items).toEqual([]);
    });
  });
}
