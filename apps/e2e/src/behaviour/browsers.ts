import { describe, expect, it } from "vitest";
import { allOf } from "../testing/all-of.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import type { ServiceUnderTest } from "./open-service.ts";

/** Browser sessions as records; the fake runs no browsers. */
export function describeBrowsers(test: ServiceUnderTest): void {
  describe("browser sessions", () => {
    it("show their options, can be changed, and end", async () => {
      const { browsers } = test.shoal;
      const name = test.unique("session");
      const made = await browsers.create({
        name,
        tags: { team: "a b", empty: "" },
        timeout_seconds: 600,
        viewport: { width: 800, height: 600 },
        start_url: "about:blank",
      });
      const id = made.session_id;
      expect(made).toMatchObject({
        name,
        tags: { team: "a b", empty: "" },
        timeout_seconds: 600,
        viewport: { width: 800, height: 600 },
        start_url: "about:blank",
        headless: true,
        stealth: false,
        browser_restarts: 0,
        region: "default",
        memory: expect.stringMatching(/^\d+[GM]iB$/) as unknown,
      });
      expect(id).toMatch(/^[a-z][a-z0-9]{23}$/);
      for (const address of [made.cdp_ws_url, made.webdriver_ws_url, made.playwright_ws_url])
        expect(address?.startsWith(`${test.baseUrl.replace("http", "ws")}/browsers/${id}/`)).toBe(true);
      expect([made.deleted_at, made.ended_reason]).toEqual([undefined, undefined]);
      expect(await browsers.get(name)).toMatchObject({
        session_id: id,
        timeout_seconds: 600,
        usage: { uptime_ms: expect.any(Number) as unknown },
      });
      expect(await codeOf(browsers.create({ name }))).toBe("409 name_taken");

      const other = test.unique("session");
      expect(await browsers.update(name, { name: other, tags: { team: "c" } })).toMatchObject({
        session_id: id,
        name: other,
        tags: { team: "c" },
      });
      expect(await codeOf(browsers.get(name))).toBe("404 not_found");
      expect(await browsers.update(id, { tags: null })).toMatchObject({ name: other, tags: { team: "c" } });
      const bare = await browsers.update(id, { name: "", tags: {} });
      expect([bare.name, bare.tags]).toEqual([undefined, undefined]);

      await browsers.delete(id);
      expect(await codeOf(browsers.get(id))).toBe("404 not_found");
      expect(await codeOf(browsers.delete(id))).toBe("404 not_found");
      expect(await codeOf(browsers.update(id, { tags: {} }))).toBe("404 not_found");
      expect(await browsers.get(id, { include_deleted: true })).toMatchObject({
        session_id: id,
        ended_reason: "deleted",
        deleted_at: expect.stringMatching(/Z$/) as unknown,
      });
      expect(await refusalOf(browsers.fs.listFiles(id, { path: "/" }))).toMatchObject({
        status: 404,
        code: "not_found",
        message: expect.stringContaining("deleted") as unknown,
      });
    });

    it("open another page when they are changed", async () => {
      const { browsers } = test.shoal;
      await using made = await browsers.create({ start_url: "about:blank" });
      const changed = await browsers.update(made.session_id, { start_url: "data:text/html,<title>a</title>" });
      expect(changed.start_url).toBe("data:text/html,<title>a</title>");
      expect((await browsers.update(made.session_id, { start_url: "" })).start_url).toBe(changed.start_url);
      expect((await browsers.get(made.session_id)).start_url).toBe(changed.start_url);
      expect(await codeOf(browsers.update(made.session_id, { start_url: "javascript:alert(1)" }))).toBe(
        "400 bad_request",
      );
    });

    it("have a location and conditions, which can be changed and removed field by field", async () => {
      const { browsers } = test.shoal;
      await using made = await browsers.create({ conditions: { color_scheme: "dark", downloads: "deny" } });
      const id = made.session_id;
      expect(made.conditions).toEqual({ color_scheme: "dark", downloads: "deny" });
      const moved = await browsers.update(id, {
        location: { timezone: "asia/tokyo" },
        conditions: { downloads: null, geolocation: { latitude: 47, longitude: 8 } },
      });
      const tokyo = { timezone: "Asia/Tokyo", timezone_source: "override", locale: "en-US", locale_source: "default" };
      const conditions = { color_scheme: "dark", geolocation: { latitude: 47, longitude: 8, accuracy: 10 } };
      expect(moved).toMatchObject({ location: tokyo, conditions });
      expect(await codeOf(browsers.update(id, { location: { timezone: "Mars/Base" } }))).toBe(
        "400 invalid_browser_location",
      );
      expect(await codeOf(browsers.update(id, { location: { timezone: "exit" } }))).toBe(
        "400 invalid_browser_location",
      );
      const same = await browsers.update(id, { tags: { a: "b" } });
      expect(same).toMatchObject({ location: tokyo, conditions });
      expect(same.conditions).toEqual(conditions);
      const back = await browsers.update(id, {
        location: { timezone: null, locale: null },
        conditions: { color_scheme: null, geolocation: null },
      });
      expect([back.location, back.conditions]).toEqual([undefined, undefined]);
    });

    it("have network rules in one notation, which can be changed", async () => {
      const { browsers } = test.shoal;
      const { session_id, network } = await browsers.create({
        network: { allow: ["Bücher.example:443", "0x7f.1", "a.example", "A.example."], deny: ["[2001:DB8::]/32:80"] },
      });
      expect(network).toEqual({
        allow: ["xn--bcher-kva.example:443", "127.0.0.1", "a.example"],
        deny: ["[2001:db8::]/32:80"],
      });
      const changed = await browsers.update(session_id, { network: { allow: null, deny: ["*:25"] } });
      expect(changed.network).toEqual({ deny: ["*:25"] });
      expect((await browsers.update(session_id, { tags: { a: "b" } })).network).toEqual({ deny: ["*:25"] });
      const invalid = [["http://a.example"], ["10.0.0.0/33"], Array.from({ length: 201 }, () => "a.example")];
      for (const deny of invalid) {
        expect(await codeOf(browsers.create({ network: { deny } }))).toBe("400 bad_request");
        expect(await codeOf(browsers.update(session_id, { network: { deny } }))).toBe("400 bad_request");
      }
      await browsers.delete(session_id);
    });

    it("have a list of allowed hosts in one notation, which can be changed and removed, but not added", async () => {
      const { browsers } = test.shoal;
      if (!test.hasBoxes) {
        const refusal = await refusalOf(browsers.create({ network: { allowed_hosts: ["a.example"] } }));
        expect(refusal.message).toContain("plain processes");
        return;
      }
      const { session_id: id, network } = await browsers.create({
        network: { allowed_hosts: [" *.Example.com", "*.example.com.", "[2001:4860:4860:0::8888]", "8.8.4.0/24"] },
        start_url: "about:blank",
      });
      const { allowed_hosts, allowlist_state: first } = network ?? {};
      expect(allowed_hosts).toEqual(["*.example.com", "[2001:4860:4860::8888]", "8.8.4.0/24"]);
      expect(first).toEqual({ revision: expect.any(String) as string });
      const revision = first?.revision ?? "";
      const change = {
        network: { allowed_hosts: ["a.example"], expected_allowlist_revision: revision, mutation_id: "one" },
      };
      const changed = await browsers.update(id, change);
      expect(changed.network).toEqual({
        allowed_hosts: ["a.example"],
        allowlist_state: { revision: expect.any(String) as string, base_revision: revision, mutation_id: "one" },
      });
      expect((await browsers.update(id, change)).network).toEqual(changed.network);
      for (const stale of [
        { ...change.network, allowed_hosts: ["b.example"] },
        { ...change.network, mutation_id: "two" },
        { ...change.network, expected_allowlist_revision: "other", mutation_id: "two" },
        { ...change.network, expected_allowlist_revision: changed.network?.allowlist_state?.revision ?? "" },
      ])
        expect(await codeOf(browsers.update(id, { network: stale }))).toBe("409 stale_network");
      for (const invalid of [
        { allowed_hosts: [] },
        { allowed_hosts: ["*.co.uk"] },
        { allowed_hosts: ["10.0.0.1"] },
        { allowed_hosts: ["a".repeat(254)] },
        { allowed_hosts: ["a.example"], mutation_id: "three" },
        { expected_allowlist_revision: revision, mutation_id: "three" },
      ])
        expect([invalid, await codeOf(browsers.update(id, { network: invalid }))]).toEqual([
          invalid,
          "400 bad_request",
        ]);
      expect(await codeOf(browsers.update(id, { start_url: "http://b.example/" }))).toBe("400 bad_request");
      expect((await browsers.update(id, { tags: { a: "b" } })).network).toEqual(changed.network);
      const removed = await browsers.update(id, { network: { allowed_hosts: null } });
      expect(removed.network).toEqual({ allowlist_state: { revision: expect.any(String) as string } });
      expect(await codeOf(browsers.update(id, { network: { allowed_hosts: ["a.example"] } }))).toBe("400 bad_request");
      await browsers.delete(id);
      const open = await browsers.create();
      expect(await codeOf(browsers.update(open.session_id, { network: { allowed_hosts: ["a.example"] } }))).toBe(
        "400 bad_request",
      );
      await browsers.delete(open.session_id);
      for (const body of [
        { network: { allowed_hosts: ["a.example"] }, start_url: "https://b.example/" },
        { network: { allowed_hosts: Array.from({ length: 101 }, (_none, index) => `a${String(index)}.example`) } },
      ])
        expect(await codeOf(browsers.create(body))).toBe("400 bad_request");
    });

    it("are listed by state, labels and name", async () => {
      const { browsers } = test.shoal;
      const series = test.unique("list");
      const ids: string[] = [];
      for (const colour of ["red", "red", "blue"])
        ids.push(
          (await browsers.create({ name: test.unique(series), tags: { series, colour }, timeout_seconds: 600 }))
            .session_id,
        );
      await browsers.delete(ids[0] ?? "");
      const listed = async (query: Parameters<typeof browsers.list>[0]) =>
        (await allOf(await browsers.list({ limit: 1, ...query, tags: { series, ...query?.tags } })))
          .map(({ session_id }) => ids.indexOf(session_id))
          .join(" ");
      expect(await listed({})).toBe("2 1");
      expect(await listed({ status: "deleted" })).toBe("0");
      expect(await listed({ status: "all" })).toBe("2 1 0");
      expect(await listed({ status: "all", tags: { colour: "red" } })).toBe("1 0");
      expect(await listed({ query: series.toUpperCase() })).toBe("2 1");
      expect(await listed({ query: ids[2] ?? "" })).toBe("2");
      expect(await listed({ tags: { colour: "green" } })).toBe("");
      expect([await listed({ region: "default" }), await listed({ region: "us-east" })]).toEqual(["2 1", ""]);
      expect((await browsers.list({ limit: 1, tags: { series } })).hasMore).toBe(true);
      for (const id of ids.slice(1)) await browsers.delete(id);
    });

    it("run in a region of the service, and can be as large as Chromium's largest window", async () => {
      const { browsers } = test.shoal;
      await using session = await browsers.create({ region: "default", viewport: { width: 16_384, height: 10 } });
      expect([session.region, session.viewport]).toEqual(["default", { width: 16_384, height: 10 }]);
      expect(await codeOf(browsers.update(session.session_id, { viewport: { width: 10, height: 16_385 } }))).toBe(
        "400 bad_request",
      );
      expect(await refusalOf(browsers.create({ region: "us-east" }))).toMatchObject({
        status: 400,
        code: "bad_request",
        message: expect.stringContaining(
          "body.region: region us-east has no running server; regions with a server: default.",
        ) as unknown,
      });
    });

    it("end at the requested time, which can be extended", async () => {
      const { browsers } = test.shoal;
      const name = test.unique("session");
      const secondsLeft = ({ ends_at }: { readonly ends_at?: string | undefined }) =>
        (Date.parse(ends_at ?? "") - Date.now()) / 1000;
      await using limited = await browsers.create({ name, max_duration_seconds: 500 });
      expect([limited.max_duration_seconds, Math.round(secondsLeft(limited) / 100)]).toEqual([500, 5]);
      const extended = await browsers.extend(name, { max_duration_seconds: 5000 });
      expect([extended.session_id, extended.max_duration_seconds, Math.round(secondsLeft(extended) / 1000)]).toEqual([
        limited.session_id,
        5000,
        5,
      ]);
      expect((await browsers.extend(name)).max_duration_seconds).toBe(5000);
      expect((await browsers.get(name)).max_duration_seconds).toBe(5000);
      expect(await codeOf(browsers.extend(test.unique("nobody")))).toBe("404 not_found");
      expect(await codeOf(browsers.create({ max_duration_seconds: 9 }))).toBe("400 bad_request");
      expect(await codeOf(browsers.extend(name, { max_duration_seconds: 604_801 }))).toBe("400 bad_request");
    });

    it("show and change how long they wait for clients", async () => {
      const { browsers } = test.shoal;
      await using made = await browsers.create({ disconnect_timeout_seconds: 600, connect_timeout_seconds: 900 });
      expect([made.disconnect_timeout_seconds, made.connect_timeout_seconds]).toEqual([600, 900]);
      const changed = await browsers.update(made.session_id, { disconnect_timeout_seconds: 300 });
      expect([changed.disconnect_timeout_seconds, changed.connect_timeout_seconds]).toEqual([300, 900]);
      await browsers.update(made.session_id, { disconnect_timeout_seconds: null });
      expect((await browsers.get(made.session_id)).disconnect_timeout_seconds).toBeUndefined();
      for (const wrong of [
        { disconnect_timeout_seconds: -1 },
        { disconnect_timeout_seconds: 86_401 },
        { connect_timeout_seconds: 4 },
      ])
        expect(await codeOf(browsers.create(wrong))).toBe("400 bad_request");
    });

    it("free their name when they end, and fail to start under a taken name", async () => {
      const { browsers } = test.shoal;
      const name = test.unique("session");
      await (async () => {
        await using first = await browsers.create({ name });
        expect((await browsers.get(name)).session_id).toBe(first.session_id);
      })();
      await using second = await browsers.create({ name });
      await using third = await browsers.create();
      expect(await codeOf(browsers.update(third.session_id, { name }))).toBe("409 name_taken");
      expect((await browsers.get(name)).session_id).toBe(second.session_id);
    });

    it("have defaults, and no end that could be extended", async () => {
      await using made = await test.shoal.browsers.create();
      expect(made).toMatchObject({
        timeout_seconds: 60,
        viewport: { width: 1920, height: 1080 },
        headless: true,
        stealth: false,
      });
      expect([made.name, made.tags]).toEqual([undefined, undefined]);
      const still = await test.shoal.browsers.extend(made.session_id);
      expect([still.max_duration_seconds, still.ends_at]).toEqual([undefined, undefined]);
      const byHand = await test.send("POST", "/browsers");
      expect(byHand.status).toBe(200);
      await test.shoal.browsers.delete((byHand.body as { session_id: string }).session_id);
    });

    it.each([
      ["a timeout below 10 s", { timeout_seconds: 9 }],
      ["a timeout above 72 h", { timeout_seconds: 259_201 }],
      ["a name with a space", { name: "a b" }],
      ["a viewport without height", { viewport: { width: 1 } }],
      ["a viewport that is a pixel too wide", { viewport: { width: 16_385, height: 10 } }],
      ["a viewport that no screen has", { viewport: { width: 1_000_000, height: 10 } }],
      ["a GPU", { gpu: true }],
      ["51 labels", { tags: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`t${String(index)}`, ""])) }],
      ["a profile by id and by name", { profile: { id: "a", name: "a" } }],
      ["21 extensions", { extensions: Array.from({ length: 21 }, () => ({ id: "a" })) }],
    ])("are refused with %s", async (_, body) => {
      expect(await test.send("POST", "/browsers", { body })).toMatchObject({
        status: 400,
        body: { code: "bad_request" },
      });
    });
  });
}
