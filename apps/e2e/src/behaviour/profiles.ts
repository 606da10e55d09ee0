import { describe, expect, it } from "vitest";
import { allOf } from "../testing/all-of.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import type { ServiceUnderTest } from "./open-service.ts";

export function describeProfiles(test: ServiceUnderTest): void {
  describe("profiles", () => {
    it("are created, found by id and by name, renamed and deleted", async () => {
      const { profiles } = test.shoal;
      const name = test.unique("Ünique name");
      const made = await profiles.create({ name });
      expect(made).toEqual({
        id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/) as unknown,
        name,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
      });
      expect(await profiles.get(made.id)).toEqual(made);
      expect(await profiles.get(name)).toEqual(made);
      const renamed = await profiles.update(name, { name: `${name} 2` });
      expect(renamed).toMatchObject({
        id: made.id,
        name: `${name} 2`,
        updated_at: expect.stringMatching(/Z$/) as unknown,
      });
      expect(await codeOf(profiles.get(name))).toBe("404 not_found");
      await profiles.delete(made.id);
      expect(await codeOf(profiles.get(made.id))).toBe("404 not_found");
      expect(await codeOf(profiles.delete(made.id))).toBe("404 not_found");
      expect(await codeOf(profiles.update(made.id, { name }))).toBe("404 not_found");
    });

    it("keep the location of their sessions, in the spelling of pages", async () => {
      const { browsers, profiles } = test.shoal;
      const made = await profiles.create({ location: { timezone: "asia/tokyo", locale: "EN-us" } });
      expect(made.location).toEqual({ timezone: "Asia/Tokyo", locale: "en-US" });
      const session = await browsers.create({ profile: { id: made.id }, location: { locale: "en-US" } });
      expect(session.location).toEqual({
        timezone: "Asia/Tokyo",
        timezone_source: "override",
        locale: "en-US",
        locale_source: "override",
      });
      await browsers.delete(session.session_id);
      expect((await profiles.update(made.id, { location: null })).location).toBeUndefined();
      expect(await codeOf(profiles.update(made.id, { location: { timezone: "Mars/Base" } }))).toBe(
        "400 invalid_browser_location",
      );
      await profiles.delete(made.id);
    });

    it("keep the conditions of their sessions, which sessions replace field by field", async () => {
      const { browsers, profiles } = test.shoal;
      const geolocation = { latitude: 47.37, longitude: 8.54 };
      const permissions = [{ name: "geolocation" as const }];
      const made = await profiles.create({ conditions: { permissions, geolocation, color_scheme: "dark" } });
      expect(made.conditions).toEqual({
        permissions: [{ name: "geolocation", setting: "granted" }],
        geolocation: { ...geolocation, accuracy: 10 },
        color_scheme: "dark",
      });
      expect(await profiles.get(made.id)).toEqual(made);
      const session = await browsers.create({
        profile: { id: made.id },
        conditions: { color_scheme: "light", reduced_motion: "reduce", permissions: [] },
      });
      expect(session.conditions).toEqual({
        permissions: [],
        geolocation: { ...geolocation, accuracy: 10 },
        color_scheme: "light",
        reduced_motion: "reduce",
      });
      expect(await browsers.get(session.session_id)).toMatchObject({ conditions: session.conditions });
      await browsers.delete(session.session_id);
      expect((await profiles.update(made.id, { conditions: {} })).conditions).toBeUndefined();
      await profiles.update(made.id, { conditions: { reduced_motion: "reduce" } });
      expect((await profiles.update(made.id, { conditions: null })).conditions).toBeUndefined();
      expect((await browsers.create({ profile: { id: made.id } })).conditions).toBeUndefined();
    });

    it("need no name, but names are unique", async () => {
      const { profiles } = test.shoal;
      expect((await profiles.create({})).name).toBeNull();
      const [first, second] = [test.unique("taken"), test.unique("taken")];
      await profiles.create({ name: first });
      const { id } = await profiles.create({ name: second });
      expect(await codeOf(profiles.create({ name: first }))).toBe("409 name_taken");
      expect(await codeOf(profiles.update(id, { name: first }))).toBe("409 name_taken");
      expect((await profiles.update(id, { name: second })).name).toBe(second);
      expect((await profiles.create({ name: first.toUpperCase() })).name).toBe(first.toUpperCase());
      const conflict = await test.send("POST", "/profiles", { body: { name: first } });
      expect(conflict.headers.get("x-should-retry")).toBe("false");
    });

    it("are found by id before name", async () => {
      const { profiles } = test.shoal;
      const first = await profiles.create({});
      const second = await profiles.create({ name: first.id });
      expect((await profiles.get(first.id)).id).toBe(first.id);
      await profiles.delete(second.id);
    });

    it("have at most one session that saves to them, and cannot be deleted while in use", async () => {
      const { browsers, profiles } = test.shoal;
      const { id, name } = await profiles.create({ name: test.unique("written") });
      const profile = { id, save_changes: true };
      const writer = await browsers.create({ profile });
      expect(await refusalOf(browsers.create({ profile }))).toMatchObject({
        status: 409,
        code: "profile_in_use",
        message: expect.stringContaining(writer.session_id) as unknown,
      });
      const reader = await browsers.create({ profile: { id } });
      await browsers.delete(writer.session_id);
      expect(await refusalOf(profiles.delete(name ?? ""))).toMatchObject({
        status: 409,
        code: "profile_in_use",
        message: expect.stringContaining(reader.session_id) as unknown,
      });
      const next = await browsers.create({ profile });
      for (const { session_id } of [reader, next]) await browsers.delete(session_id);
      await profiles.delete(id);
    });

    it("are listed newest first, page by page", async () => {
      const { profiles } = test.shoal;
      const series = test.unique("series");
      const names = Array.from({ length: 5 }, (_, index) => `${series}.${String(index)}`);
      for (const name of names) await profiles.create({ name });
      const first = await profiles.list({ query: series, limit: 2 });
      expect([first.items.map(({ name }) => name), first.hasMore, first.nextOffset]).toEqual([
        [names[4], names[3]],
        true,
        2,
      ]);
      const last = await profiles.list({ query: series, limit: 2, offset: 4 });
      expect([last.items.map(({ name }) => name), last.hasMore, last.nextOffset]).toEqual([
        [names[0]],
        false,
        undefined,
      ]);
      expect((await profiles.list({ query: series, offset: 5 })).items).toEqual([]);
      expect((await allOf(await profiles.list({ query: series, limit: 2 }))).map(({ name }) => name)).toEqual(
        names.toReversed(),
      );
      const { headers } = await test.send("GET", `/profiles?query=${series}&limit=2`);
      expect(["x-limit", "x-offset", "x-has-more", "x-next-offset"].map((name) => headers.get(name))).toEqual([
        "2",
        "0",
        "true",
        "2",
      ]);
    });

    it.each([
      ["query", "part of the name, in any case", "ÉCLAIR", true],
      ["query", "part of the name, with its own special characters", "50%_\\", true],
      ["query", "another text", "eclairs", false],
      ["name", "the whole name without its accents, in any case", "", true],
      ["name", "a part", "éclair", false],
    ] as const)("are found by %s: %s", async (field, _, text, found) => {
      const { profiles } = test.shoal;
      const name = `${test.unique("search")} Éclair 50%_\\`;
      await profiles.create({ name });
      const asked = field === "name" && text === "" ? name.replace("É", "e").toLowerCase() : text;
      expect(
        (await allOf(await profiles.list({ [field]: asked, limit: 100 }))).some((profile) => profile.name === name),
      ).toBe(found);
    });
  });
}
