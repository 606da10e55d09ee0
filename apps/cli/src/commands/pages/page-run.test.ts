import { expect, it } from "vitest";
import { useAnsweringService } from "../../testing/answering-service.ts";
import { shoal } from "../../testing/shoal.ts";
import { ServiceError } from "@shoal/router";

const service = useAnsweringService();

it("open replaces only the terminal's own session, never a named session", async () => {
  const over = new Set(["stranger"]);
  let created = 0;
  service.answers["browsers.create"] = () => ({ session_id: `own${String(++created)}` });
  service.answers["browsers.act"] = () => {
    const { id } = service.asked.at(-1)?.params as { id: string };
    if (over.has(id)) throw new ServiceError(404, "not_found", `Browser ${id} was not found.`);
    return { url: "https://example.com/", title: "Example" };
  };
  const open = (args: readonly string[], env = {}) =>
    shoal(["open", "example.com", "-o", "json", ...args], { env: { ...service.env, ...env } });
  const used = () =>
    service.asked.splice(0).map(({ operationId, params }) => [operationId, (params as { id?: string }).id]);

  expect((await open([])).stderr).toContain("Started session own1.");
  service.asked.splice(0);
  expect(await open(["-s", "stranger"])).toMatchObject({
    status: 4,
    stderr: expect.stringContaining(
      "The session stranger was not found. It may have ended.\n  List running sessions with: shoal browsers list\n",
    ) as unknown,
  });
  expect(await open([], { SHOAL_SESSION: "stranger" })).toMatchObject({
    status: 4,
    stderr: expect.stringContaining("SHOAL_SESSION names it.") as unknown,
  });
  // The terminal's own session is as before.
  expect((await open([])).status).toBe(0);
  expect(used()).toEqual([
    ["browsers.act", "stranger"],
    ["browsers.act", "stranger"],
    ["browsers.act", "own1"],
  ]);

  over.add("own1");
  expect((await open([])).stderr).toContain("Started session own2.");
});
