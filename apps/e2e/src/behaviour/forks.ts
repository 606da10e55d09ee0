import { describe, expect, it } from "vitest";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import type { ServiceUnderTest } from "./open-service.ts";

/** Forks as records. */
export function describeForks(test: ServiceUnderTest): void {
  describe("forks of a session", () => {
    it("have its settings, separate names, and end separately", async () => {
      const { browsers } = test.shoal;
      const [name, left] = [test.unique("session"), test.unique("session")];
      await using parent = await browsers.create({
        name,
        tags: { team: "a" },
        timeout_seconds: 600,
        max_duration_seconds: 3600,
        viewport: { width: 800, height: 600 },
        start_url: "about:blank",
      });
      const forks = await browsers.fork(name, { count: 2, names: [left], mode: "restored" });
      expect({ ...forks, browsers: forks.browsers.length }).toEqual({ mode: "restored", paused_ms: 0, browsers: 2 });
      const [first, second] = forks.browsers;
      for (const fork of forks.browsers)
        expect(fork).toMatchObject({
          forked_from: parent.session_id,
          tags: { team: "a" },
          timeout_seconds: 600,
          max_duration_seconds: 3600,
          viewport: { width: 800, height: 600 },
        });
      expect([first?.name, second?.name, first?.start_url]).toEqual([left, undefined, undefined]);
      expect(new Set([parent, ...forks.browsers].map(({ session_id: id }) => id)).size).toBe(3);
      expect((await browsers.get(left)).forked_from).toBe(parent.session_id);
      await browsers.delete(left);
      const again = await browsers.fork(second?.session_id ?? "", { timeout_seconds: 900 });
      expect(again).toMatchObject({ mode: "restored", not_exact_because: expect.any(String) as unknown });
      expect(again.browsers[0]).toMatchObject({ forked_from: second?.session_id, timeout_seconds: 900 });
      expect((await browsers.get(name)).forked_from).toBeUndefined();
      for (const { session_id: id } of [...again.browsers, ...(second ? [second] : [])]) await browsers.delete(id);
    });

    it("read the profile of their parent and never save it", async () => {
      const { browsers, profiles } = test.shoal;
      const profile = test.unique("profile");
      await profiles.create({ name: profile });
      await using parent = await browsers.create({ profile: { name: profile, save_changes: true } });
      const { browsers: forks } = await browsers.fork(parent.session_id);
      expect(forks[0]).toMatchObject({ profile: { name: profile }, profile_save_changes: false });
      expect((await browsers.get(parent.session_id)).profile_save_changes).toBe(true);
      await browsers.delete(forks[0]?.session_id ?? "");
    });

    it("say which of them did not start, and fail if none did", async () => {
      const { browsers } = test.shoal;
      const [name, other] = [test.unique("session"), test.unique("session")];
      await using parent = await browsers.create({ name });
      const forks = await browsers.fork(name, { names: [name, other] });
      expect([forks.browsers.map((fork) => fork.name), forks.errors]).toEqual([
        [other],
        [{ index: 0, code: "name_taken", message: expect.stringContaining(name) as unknown }],
      ]);
      expect(await codeOf(browsers.fork(parent.session_id, { names: [name] }))).toBe("409 name_taken");
      await browsers.delete(other);
    });

    it.each([
      ["no sessions", { count: 0 }],
      ["33 sessions", { count: 33 }],
      ["more names than sessions", { count: 1, names: ["a", "b"] }],
      ["no names", { names: [] }],
      ["an invalid name", { names: ["a b"] }],
      ["a short timeout", { timeout_seconds: 9 }],
    ])("are not made with %s", async (_what, body) => {
      await using parent = await test.shoal.browsers.create();
      expect(await codeOf(test.shoal.browsers.fork(parent.session_id, body))).toBe("400 bad_request");
    });

    it("are refused as exact copies, of shared browsers and of missing sessions", async () => {
      const { browsers } = test.shoal;
      await using parent = await browsers.create();
      expect(await refusalOf(browsers.fork(parent.session_id, { mode: "exact" }))).toMatchObject({
        status: 501,
        code: "not_implemented",
        message: expect.stringContaining("body.mode: an exact fork copies the processes") as unknown,
      });
      expect(await codeOf(browsers.fork(test.unique("missing")))).toBe("404 not_found");
      await using shared = await browsers.create({ isolation: "context" });
      expect(await refusalOf(browsers.fork(shared.session_id))).toMatchObject({ status: 409, code: "conflict" });
    });
  });
}
