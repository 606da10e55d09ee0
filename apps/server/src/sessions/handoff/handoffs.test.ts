import type { Instance } from "@shoal/placement";
import { Browser } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { withMembers } from "../../testing/with-members.ts";

let server: TestServer;
/** Called for each change of a viewport; it runs until the promise resolves. */
let onChange = (): Promise<unknown> => Promise.resolve();
/** Statuses of handoffs that instances received. */
const reported: string[] = [];

function observed(instance: Instance): Instance {
  return withMembers(instance, {
    async request(init, body) {
      if (init.path === "/_instance/viewport") await onChange();
      if (init.path === "/_instance/handoff" && typeof body === "string")
        reported.push((JSON.parse(body) as { status: string }).status);
      return instance.request(init, body);
    },
  });
}

beforeAll(async () => {
  server = await startTestServer(
    {},
    {
      aroundPlacement: (placement) =>
        withMembers(placement, { acquire: async (...given) => observed(await placement.acquire(...given)) }),
    },
  );
});
afterAll(() => server.close());

const statusOf = (handoff: unknown) => (handoff as { status: string }).status;

it("does not begin a handoff that ended while its request waited for a change of the session", async () => {
  const { session_id: id } = Browser.parse((await server.request("POST", "/browsers", { body: {} })).body);
  const [arrived, change] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  onChange = () => {
    arrived.resolve(undefined);
    return change.promise;
  };
  const changing = server.request("PATCH", `/browsers/${id}`, { body: { viewport: { width: 800, height: 600 } } });
  await arrived.promise;
  const requesting = server.request("POST", `/browsers/${id}/handoff`, {
    body: { message: "Sign in", on_automation: "refuse" },
  });
  await expect
    .poll(async () => (await server.request("GET", `/browsers/${id}/handoff`)).body)
    .toMatchObject({ status: "requested" });
  const canceled = await server.request("POST", `/browsers/${id}/handoff/cancel`);
  expect(statusOf(canceled.body)).toBe("canceled");
  change.resolve(undefined);
  expect((await changing).status).toBe(200);
  expect(statusOf((await requesting).body)).toBe("canceled");
  expect(reported).not.toContain("requested");
  const moved = await server.request("POST", `/browsers/${id}/computer/move_mouse`, { body: { x: 1, y: 1 } });
  expect(moved.status, JSON.stringify(moved.body)).toBeLessThan(300);

  // A later one begins and ends.
  onChange = () => Promise.resolve();
  const later = await server.request("POST", `/browsers/${id}/handoff`, {
    body: { message: "Sign in", on_automation: "refuse" },
  });
  expect(statusOf(later.body)).toBe("requested");
  const refused = await server.request("POST", `/browsers/${id}/computer/move_mouse`, { body: { x: 1, y: 1 } });
  expect(refused.status).toBe(409);
  await server.request("POST", `/browsers/${id}/handoff/cancel`);
  await expect.poll(() => reported.slice(-2)).toEqual(["requested", "canceled"]);
  expect((await server.request("DELETE", `/browsers/${id}`)).status).toBe(204);
});
