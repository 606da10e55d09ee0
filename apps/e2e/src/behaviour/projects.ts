import { describe, expect, it } from "vitest";
import { codeOf } from "../testing/refusal.ts";
import type { ServiceUnderTest } from "./open-service.ts";

/** Projects: isolation, and the rights of a project's key. */
export function describeProjects(test: ServiceUnderTest): void {
  describe("projects", () => {
    it("are created, found by id and by name, renamed and deleted", async () => {
      const { projects } = test.shoal;
      const name = test.unique("project");
      const made = await projects.create({ name });
      expect(made).toMatchObject({ name, status: "active" });
      expect((await projects.get(name)).id).toBe(made.id);
      expect(await codeOf(projects.create({ name }))).toBe("409 name_taken");
      expect((await projects.update(made.id, { name: `${name} 2` })).name).toBe(`${name} 2`);
      expect((await projects.list({ query: name })).items.map(({ id }) => id)).toEqual([made.id]);
      await projects.delete(made.id);
      expect(await codeOf(projects.get(made.id))).toBe("404 not_found");
    });

    it("isolate their objects", async () => {
      const { apiKeys, projects } = test.shoal;
      const name = test.unique("project");
      const { id } = await projects.create({ name });
      const own = test.clientWith({ apiKey: (await apiKeys.create({ name: "own", project_id: id })).key });
      const profile = await own.profiles.create({ name: "inside" });
      expect(await codeOf(test.shoal.profiles.get(profile.id))).toBe("404 not_found");
      expect((await test.clientWith({ project: name }).profiles.get("inside")).id).toBe(profile.id);
      expect((await own.apiKeys.list()).items.map(({ project_name }) => project_name)).toEqual([name]);
      expect((await own.projects.list()).items.map((project) => project.id)).toEqual([id]);
      expect(await codeOf(own.projects.create({ name: test.unique("project") }))).toBe("403 forbidden");
      expect(await codeOf(own.projects.update(id, { status: "archived" }))).toBe("403 forbidden");
      expect((await own.projects.update(id, { name: `${name} 2` })).name).toBe(`${name} 2`);
      expect(await codeOf(test.clientWith({ project: "nowhere" }).profiles.list())).toBe("404 project_not_found");
      await own.profiles.delete(profile.id);
    });

    it("have network rules, which only keys of the organization change", async () => {
      const { apiKeys, projects } = test.shoal;
      const name = test.unique("project");
      const { id, network } = await projects.create({ name, network: { deny: ["*.Example.COM."] } });
      expect(network).toEqual({ deny: ["*.example.com"] });
      const own = test.clientWith({ apiKey: (await apiKeys.create({ name: "own", project_id: id })).key });
      expect((await own.projects.get(id)).network).toEqual(network);
      expect(await codeOf(own.projects.update(id, { network: { deny: null } }))).toBe("403 forbidden");
      expect((await projects.update(id, { network: { allow: [] } })).network).toEqual({ allow: [], ...network });
      expect(await codeOf(projects.update(id, { network: { deny: ["a b"] } }))).toBe("400 bad_request");
      expect((await projects.update(id, { network: { allow: null, deny: [] } })).network).toBeUndefined();
      await projects.delete(id);
    });

    it("say what their sessions capture and record, which only keys of the organization change", async () => {
      const { apiKeys, projects } = test.shoal;
      const name = test.unique("project");
      const made = await projects.create({ name, default_telemetry: ["console", "page"] });
      expect(made).toMatchObject({ default_telemetry: ["console", "page"] });
      expect(made.service_defaults).toEqual({ default_telemetry: ["off"], default_recording: false });
      const { id } = made;
      const own = test.clientWith({ apiKey: (await apiKeys.create({ name: "own", project_id: id })).key });
      const browser = await own.browsers.create();
      expect(browser.telemetry?.browser).toMatchObject({ console: { enabled: true }, network: { enabled: false } });
      const off = await own.browsers.create({ telemetry: { enabled: false } });
      expect(off.telemetry).toBeUndefined();
      for (const { session_id } of [browser, off]) await own.browsers.delete(session_id);
      expect(await codeOf(own.projects.update(id, { default_recording: true }))).toBe("403 forbidden");
      expect(await codeOf(own.projects.update(id, { default_telemetry: null }))).toBe("403 forbidden");
      for (const wrong of [[], ["off", "page"], ["weather"]])
        expect(await codeOf(projects.update(id, { default_telemetry: wrong as ["page"] }))).toBe("400 bad_request");
      const changed = await projects.update(id, { default_telemetry: ["off"], default_recording: true });
      expect(changed).toMatchObject({ default_telemetry: ["off"], default_recording: true });
      const reset = await projects.update(id, { default_telemetry: null, default_recording: null });
      expect([reset.default_telemetry, reset.default_recording]).toEqual([undefined, undefined]);
      await projects.delete(id);
    });

    it("accept no new objects while archived", async () => {
      const { projects } = test.shoal;
      const name = test.unique("project");
      const { id } = await projects.create({ name });
      const own = test.clientWith({ apiKey: (await test.shoal.apiKeys.create({ name: "own", project_id: id })).key });
      expect((await projects.update(name, { status: "archived" })).status).toBe("archived");
      expect(await codeOf(test.clientWith({ project: name }).profiles.create({}))).toBe("404 project_not_found");
      expect(await codeOf(own.profiles.list())).toBe("404 project_not_found");
      expect(await codeOf(test.shoal.apiKeys.create({ name: "late", project_id: id }))).toBe("404 project_not_found");
      await projects.update(name, { status: "active" });
      for (const client of [own, test.clientWith({ project: name })])
        expect((await client.profiles.list()).items).toEqual([]);
    });

    it("have separate limits", async () => {
      const { limits } = test.shoal.projects;
      const { id } = await test.shoal.projects.create({ name: test.unique("project") });
      expect((await limits.get(id)).max_concurrent_sessions ?? null).toBeNull();
      expect((await limits.update(id, { max_concurrent_sessions: 1 })).max_concurrent_sessions).toBe(1);
      const inside = test.clientWith({ project: id });
      const { session_id } = await inside.browsers.create({ timeout_seconds: 600 });
      const refused = await test.send("POST", "/browsers", { headers: { "x-shoal-project": id } });
      expect(refused).toMatchObject({
        status: 429,
        body: { code: "too_many_requests", limit: 1, used: 1, remaining: 0 },
      });
      // oxlint-disable-next-line typescript/no-deprecated -- deprecated, but still supported
      expect(await codeOf(limits.update(id, { max_pooled_sessions: 1 }))).toBe("400 bad_request");
      expect((await limits.update(id, { max_concurrent_invocations: 3 })).max_concurrent_sessions).toBe(1);
      expect(await codeOf(test.shoal.projects.delete(id))).toBe("409 project_not_empty");
      expect((await limits.update(id, { max_concurrent_sessions: 0 })).max_concurrent_sessions ?? null).toBeNull();
      await inside.browsers.delete(session_id);
      await test.shoal.projects.delete(id);
    });
  });
}
