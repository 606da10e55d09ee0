import { describe, expect, it } from "vitest";
import { endless, events, useAnsweringService } from "../../testing/answering-service.ts";
import { deployment, invocation, log, state, timestamp } from "../../testing/app-events.ts";
import { start } from "../../testing/shoal.ts";
import { noScript, onTerminal } from "../../testing/terminal.ts";

const withoutScript = noScript();
const service = useAnsweringService();
const { env, run } = service;

describe("invoke", () => {
  const invoked = (status: string, more: object = {}) => ({
    event: "invocation_state",
    invocation: { ...invocation, status, ...more },
    timestamp,
  });

  it("prints the log and the result of an action", async () => {
    service.answers["invocations.create"] = () => invocation;
    service.answers["invocations.follow"] = () =>
      events(log("buying"), invoked("succeeded", { output: '{"ok":true}', finished_at: timestamp }));
    expect(await run("invoke", "shop", "buy", "-p", '{"item":1}')).toEqual({
      status: 0,
      stdout: `${timestamp}  stdout  buying\n{"ok":true}\n`,
      stderr: `Started ${invocation.id}.\n`,
    });
    expect(service.asked[0]?.body).toMatchObject({
      app_name: "shop",
      action_name: "buy",
      version: "latest",
      payload: '{"item":1}',
      async: true,
    });
    service.answers["invocations.create"] = () => ({ ...invocation, status: "failed", status_reason: "sold out" });
    expect(await run("invoke", "shop", "buy", "--sync")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("failed: sold out.") as unknown,
    });
    expect(await run("invoke", "shop", "buy", "-p", "{")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--payload must be JSON.") as unknown,
    });
  });

  it("cancels the invocation on the service when it is stopped", async () => {
    service.answers["invocations.create"] = () => invocation;
    service.answers["invocations.follow"] = () => endless(log("buying"));
    service.answers["invocations.update"] = () => ({ ...invocation, status: "failed" });
    const running = start(["invoke", "shop", "buy"], env);
    await expect.poll(() => running.stdout()).toContain("buying");
    running.kill("SIGINT");
    expect((await running.outcome).status).toBe(130);
    expect(service.asked.map(({ operationId }) => operationId)).toEqual([
      "invocations.create",
      "invocations.follow",
      "invocations.update",
      "invocations.deleteBrowsers",
    ]);
    expect(service.asked[2]?.body).toMatchObject({ status: "failed" });
  });
});

describe.skipIf(withoutScript)(
  `invoke on a terminal${withoutScript === undefined ? "" : ` (skipped: ${withoutScript})`}`,
  () => {
    const interrupted = async (keys: string) => {
      service.answers["invocations.create"] = () => invocation;
      service.answers["invocations.follow"] = () => endless(log("buying"));
      service.answers["invocations.update"] = () => ({ ...invocation, status: "failed" });
      const run = onTerminal(["invoke", "shop", "buy", "--no-color"], { env });
      await expect.poll(() => run.screen()).toContain("buying");
      run.type("\u0003");
      await expect.poll(() => run.screen()).toContain(`Cancel invocation ${invocation.id}?`);
      run.type(keys);
      expect(await run.status).toBe(130);
      return run.screen();
    };

    it("offers to cancel the invocation on Ctrl-C", async () => {
      await interrupted("\r");
      expect(service.asked.map(({ operationId }) => operationId)).toContain("invocations.update");
    });

    it("leaves the invocation running on a second Ctrl-C", async () => {
      expect(await interrupted("\u0003")).toContain(`shoal invocations follow ${invocation.id}`);
      expect(service.asked.map(({ operationId }) => operationId)).toEqual(["invocations.create", "invocations.follow"]);
    });
  },
);

describe("logs", () => {
  it("prints the log and exits after silence", async () => {
    service.answers["apps.list"] = () => ({
      items: [
        {
          id: deployment.id,
          app_name: "shop",
          version: "latest",
          region: "aws.us-east-1a",
          deployment: deployment.id,
          actions: [],
          env_vars: {},
        },
      ],
      hasMore: false,
      nextOffset: undefined,
    });
    service.answers["deployments.follow"] = () => endless(state("running"), log("one"), log("two", "stderr"));
    expect(await run("logs", "shop", "--since", "1h")).toEqual({
      status: 0,
      stdout: `${timestamp}  stdout  one\n${timestamp}  stderr  two\n`,
      stderr: "",
    });
    expect(service.asked[1]).toMatchObject({ params: { id: deployment.id }, query: { since: "1h" } });
    service.answers["apps.list"] = () => ({ items: [], hasMore: false, nextOffset: undefined });
    expect(await run("logs", "none")).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("App none was not found.") as unknown,
    });
  });
});
