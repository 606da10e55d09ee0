import { describe, expect, it } from "vitest";
import { useAnsweringService } from "../../testing/answering-service.ts";
import { deployment } from "../../testing/app-events.ts";

const service = useAnsweringService();
const { run } = service;

describe("apps", () => {
  const page = (...items: object[]) => ({ items, hasMore: false, nextOffset: undefined });

  it("lists the deployments of an app", async () => {
    service.answers["deployments.list"] = () => page({ ...deployment, status: "running" });
    const { status, stdout } = await run("apps", "history", "shop", "--version", "v2", "--limit", "5");
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(deployment.id) as unknown });
    expect(service.asked[0]?.query).toMatchObject({ app_name: "shop", app_version: "v2", limit: 5 });
  });

  it("returns to the deployment before the running one", async () => {
    const [newest, current, previous] = ["n", "c", "p"].map((letter) => letter + deployment.id.slice(1));
    service.answers = {
      "apps.list": () =>
        page({
          id: "a",
          app_name: "shop",
          version: "v1",
          region: deployment.region,
          deployment: current,
          actions: [],
          env_vars: {},
        }),
      "deployments.list": () =>
        page(
          { ...deployment, id: newest, status: "failed" },
          { ...deployment, id: current, status: "running" },
          { ...deployment, id: "f", status: "failed" },
          { ...deployment, id: previous, status: "stopped" },
        ),
      "deployments.rollback": () => ({
        ...deployment,
        id: previous,
        status: "running",
        status_reason: "It replaced c.",
      }),
    };
    const done = await run("deploy", "rollback", "--app", "shop", "--version", "v1");
    expect(done).toMatchObject({ status: 0, stderr: `Deployment ${String(previous)} is running. It replaced c.\n` });
    expect(service.asked.map(({ operationId }) => operationId)).toEqual([
      "apps.list",
      "deployments.list",
      "deployments.rollback",
    ]);
    expect(service.asked.at(-1)).toMatchObject({ params: { id: previous } });
    const printed = await run("deploy", "rollback", deployment.id, "-o", "json");
    expect(JSON.parse(printed.stdout)).toMatchObject({ id: previous });
    expect(service.asked.at(-1)).toMatchObject({ params: { id: deployment.id } });
    service.answers["deployments.list"] = () => page({ ...deployment, id: current, status: "running" });
    const none = await run("deploy", "rollback", "--app", "shop", "--version", "v1");
    expect(none.stderr).toContain("App shop has no earlier deployment of version v1.");
    expect((await run("deploy", "rollback")).stderr).toContain("Pass either a deployment, or --app");
  });

  it("deletes an app with its deployments after a confirmation", async () => {
    const other = { ...deployment, id: "d3x1p0v2k7c9q5w8z6t4r2yh" };
    service.answers["deployments.list"] = () => page(deployment, other);
    expect(await run("apps", "delete", "shop")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("Delete app shop with 2 deployments?") as unknown,
    });
    expect(service.asked.map(({ operationId }) => operationId)).toEqual(["deployments.list"]);
    service.asked = [];
    expect(await run("apps", "delete", "shop", "--yes")).toEqual({
      status: 0,
      stdout: "",
      stderr: "Deleted app shop with 2 deployments.\n",
    });
    expect(service.asked.slice(1).map(({ params }) => params)).toEqual([{ id: deployment.id }, { id: other.id }]);
    service.answers["deployments.list"] = () => page();
    expect(await run("apps", "delete", "shop", "--version", "v1", "--yes")).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("App shop with version v1 was not found.") as unknown,
    });
  });
});
