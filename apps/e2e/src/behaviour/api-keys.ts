import { describe, expect, it } from "vitest";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import type { ServiceUnderTest } from "./open-service.ts";

const dayMs = 24 * 60 * 60 * 1000;
const inDays = (timestamp: string | null) =>
  timestamp === null ? null : Math.round((Date.parse(timestamp) - Date.now()) / dayMs);

export function describeApiKeys(test: ServiceUnderTest): void {
  describe("API keys", () => {
    it("open the service until they are deleted", async () => {
      const { apiKeys } = test.shoal;
      const name = test.unique("key");
      const { key, ...made } = await apiKeys.create({ name });
      expect(key).toMatch(/^sk_shoal_[\w-]{43}$/);
      expect(made).toMatchObject({
        name,
        expires_at: null,
        deleted_at: null,
        project_id: null,
        project_name: null,
        masked_key: `${key.slice(0, 13)}...${key.slice(-4)}`,
        created_by: { email: "admin@localhost", name: "admin" },
      });
      const client = test.clientWith({ apiKey: key });
      expect(await client.apiKeys.get(made.id)).toMatchObject(made);
      expect(JSON.stringify(await apiKeys.get(made.id))).not.toContain(key);
      expect(await codeOf(client.apiKeys.delete(made.id))).toBe("400 bad_request");
      expect((await apiKeys.update(made.id, { name: `${name} 2` })).name).toBe(`${name} 2`);
      await apiKeys.delete(made.id);
      expect(await codeOf(client.profiles.list())).toBe("401 unauthorized");
      expect(await codeOf(apiKeys.get(made.id))).toBe("404 not_found");
      expect(await codeOf(apiKeys.delete(made.id))).toBe("404 not_found");
      expect(await codeOf(apiKeys.update(made.id, { name }))).toBe("404 not_found");
      expect((await apiKeys.get(made.id, { include_deleted: true })).deleted_at).toMatch(/Z$/);
    });

    it("expire after the requested lifetime", async () => {
      const { apiKeys } = test.shoal;
      expect(inDays((await apiKeys.create({ name: "a", days_to_expire: 3 })).expires_at)).toBe(3);
      expect(inDays((await apiKeys.create({ name: "a", days_to_expire: null })).expires_at)).toBeNull();
      for (const days_to_expire of [0, 3651, 1.5])
        expect((await refusalOf(apiKeys.create({ name: "a", days_to_expire }))).status).toBe(400);
      expect(await codeOf(apiKeys.create({ name: "a", project_id: "nowhere" }))).toBe("404 project_not_found");
    });

    it("expire at the requested moment, and make no key that outlives them", async () => {
      const { apiKeys } = test.shoal;
      const at = (ms: number) => new Date(Date.now() + ms).toISOString();
      const expires_at = at(2 * dayMs);
      const made = await apiKeys.create({ name: "a", expires_at });
      expect(made.expires_at).toBe(expires_at);
      for (const asked of [
        { expires_at: at(-1000) },
        { expires_at: at(3651 * dayMs) },
        { expires_at, days_to_expire: 1 },
      ])
        expect(await codeOf(apiKeys.create({ name: "a", ...asked }))).toBe("400 bad_request");
      const { apiKeys: own } = test.clientWith({ apiKey: made.key });
      for (const asked of [{ expires_at: at(3 * dayMs) }, { days_to_expire: 3 }])
        expect(await refusalOf(own.create({ name: "b", ...asked }))).toMatchObject({
          status: 400,
          message: expect.stringContaining("would outlive the calling key") as unknown,
        });
      const later = await apiKeys.create({ name: "c" });
      expect((await own.create({ name: "b" })).expires_at).toBe(expires_at);
      expect((await own.create({ name: "b", expires_at: at(dayMs) })).expires_at).not.toBe(expires_at);
      expect((await own.rotate(later.id)).expires_at).toBe(expires_at);
      expect((await own.rotate(made.id)).expires_at).toBe(expires_at);
      expect(await codeOf(own.rotate(made.id, { days_to_expire: 10 }))).toBe("400 bad_request");
    });

    it.each([
      { what: "a key for ever", lifetime: null, asked: {}, successor: null, old: 7 },
      { what: "a key of 30 days", lifetime: 30, asked: {}, successor: 30, old: 7 },
      { what: "a key of 3 days", lifetime: 3, asked: {}, successor: 3, old: 3 },
      { what: "a key of 3 days, for 10", lifetime: 3, asked: { days_to_expire: 10 }, successor: 10, old: 3 },
      {
        what: "a key for ever, with a grace of 2 days",
        lifetime: null,
        asked: { expire_in_days: 2 },
        successor: null,
        old: 2,
      },
      {
        what: "a key of 30 days, for ever",
        lifetime: 30,
        asked: { days_to_expire: null, expire_in_days: 20 },
        successor: null,
        old: 20,
      },
    ])("are rotated: $what", async ({ asked, lifetime, old, successor }) => {
      const { apiKeys } = test.shoal;
      const first = await apiKeys.create({ name: test.unique("rotated"), days_to_expire: lifetime });
      const second = await apiKeys.rotate(first.id, asked);
      expect([second.name, inDays(second.expires_at)]).toEqual([first.name, successor]);
      expect(inDays((await apiKeys.get(first.id)).expires_at)).toBe(old);
      for (const apiKey of [first.key, second.key])
        expect((await test.clientWith({ apiKey }).apiKeys.get(first.id)).id).toBe(first.id);
    });

    it("expire at once when rotated with no grace period, and never after their successor", async () => {
      const { apiKeys } = test.shoal;
      const { id, key } = await apiKeys.create({ name: test.unique("rotated") });
      expect(await codeOf(apiKeys.rotate(id, { days_to_expire: 5, expire_in_days: 7 }))).toBe("400 bad_request");
      expect(await codeOf(apiKeys.rotate("nowhere", {}))).toBe("404 not_found");
      await apiKeys.rotate(id, { expire_in_days: 0 });
      expect(await codeOf(test.clientWith({ apiKey: key }).profiles.list())).toBe("401 unauthorized");
    });

    it("are listed in the requested order", async () => {
      const { apiKeys } = test.shoal;
      const series = test.unique("listed");
      for (const [name, days_to_expire] of [
        ["b", 5],
        ["a", null],
        ["c", 2],
      ] as const)
        await apiKeys.create({ name: `${series} ${name}`, days_to_expire });
      const { id } = await apiKeys.create({ name: `${series} gone` });
      await apiKeys.delete(id);
      const listed = async (query: Parameters<typeof apiKeys.list>[0]) =>
        (await apiKeys.list({ query: series, ...query })).items.map(({ name }) => name.split(" ").at(-1)).join(" ");
      expect(await listed({})).toBe("c a b");
      expect(await listed({ sort_direction: "asc" })).toBe("b a c");
      expect(await listed({ sort_by: "name", sort_direction: "asc" })).toBe("a b c");
      expect(await listed({ sort_by: "expires_at", sort_direction: "asc" })).toBe("c b a");
      expect(await listed({ sort_by: "expires_at" })).toBe("b c a");
      expect(await listed({ status: "deleted" })).toBe("gone");
      expect(await listed({ status: "all", sort_by: "name" })).toBe("gone c b a");
      expect(await listed({ limit: 1, offset: 1 })).toBe("a");
      expect(await listed({ query: series.toUpperCase(), name: `${series.toUpperCase()} A` })).toBe("a");
    });
  });
}
