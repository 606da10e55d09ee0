import { expect, it } from "vitest";
import { containsFolded, folded } from "../../index.ts";
import type { DatabaseSuite } from "./suite.ts";

export function uniqueNameTests(suite: DatabaseSuite): void {
  it("enforces unique names of profiles in a project and of active sessions, and one default project", async () => {
    const { query } = await suite.fresh();
    const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
    const profile = (id: string, name: string | null) =>
      query.insertInto("profiles").values({ id, project_id, name, updated_at: null, last_used_at: null }).execute();
    await profile("p1", "same");
    await expect(profile("p2", "same")).rejects.toMatchObject({
      code: "23505",
      constraint: "profiles_project_id_name_key",
    });
    await profile("p3", null);
    await profile("p4", null);
    const session = (id: string) =>
      query
        .insertInto("sessions")
        .values({
          id,
          project_id,
          name: "same",
          placement: "process",
          server_id: "s",
          timeout_seconds: 10,
          headless: true,
          stealth: false,
          viewport: null,
          start_url: null,
          ended_at: null,
          ended_reason: null,
        })
        .execute();
    await session("b1");
    await expect(session("b2")).rejects.toMatchObject({ code: "23505", constraint: "sessions_active_name" });
    await query
      .updateTable("sessions")
      .set({ ended_at: new Date(), ended_reason: "deleted" })
      .where("id", "=", "b1")
      .execute();
    await session("b2");
    await expect(
      query.updateTable("sessions").set({ ended_at: new Date() }).where("id", "=", "b2").execute(),
    ).rejects.toMatchObject({
      code: "23514",
    });
    await expect(
      query.insertInto("projects").values({ id: "x", name: "x", is_default: true }).execute(),
    ).rejects.toMatchObject({ code: "23505" });
  });
}

export function nameSearchTests(suite: DatabaseSuite): void {
  it("finds names regardless of case and accents", async () => {
    const { query } = await suite.fresh();
    const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
    const names = ["Café Zürich", "ΜΕΓΆΛΗ Πόλις", "ＷＩＤＥ", "İstanbul", "100%_sure\\", "日本語", "ОЁЖ"];
    await query
      .insertInto("profiles")
      .values(names.map((name, index) => ({ id: `p${index}`, project_id, name, updated_at: null, last_used_at: null })))
      .execute();
    const equal = async (name: string) =>
      (await query.selectFrom("profiles").select("name").where("name_folded", "=", folded(name)).execute()).map(
        (row) => row.name,
      );
    const containing = async (part: string) =>
      (
        await query
          .selectFrom("profiles")
          .select("name")
          .where(containsFolded("name_folded", part))
          .orderBy("id")
          .execute()
      ).map((row) => row.name);
    expect(await equal("CAFE ZURICH")).toEqual(["Café Zürich"]);
    expect(await equal("cafe\u0301 zu\u0308rich")).toEqual(["Café Zürich"]);
    expect(await equal("μεγαλη πολις")).toEqual(["ΜΕΓΆΛΗ Πόλις"]);
    expect(await equal("Μεγαλη ΠΟΛΙΣ")).toEqual(["ΜΕΓΆΛΗ Πόλις"]);
    expect(await equal("wide")).toEqual(["ＷＩＤＥ"]);
    expect(await equal("istanbul")).toEqual(["İstanbul"]);
    expect(await equal("оеж")).toEqual(["ОЁЖ"]);
    expect(await containing("zurich")).toEqual(["Café Zürich"]);
    expect(await containing("%_")).toEqual(["100%_sure\\"]);
    expect(await containing("\\")).toEqual(["100%_sure\\"]);
    expect(await containing("本")).toEqual(["日本語"]);
    expect(await containing("")).toHaveLength(names.length);
  });
}
