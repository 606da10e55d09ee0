import { type FakeShoal, type FakeSite, startFakeShoal } from "@shoal/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { shoal, shoalProcess, start } from "../../testing/shoal.ts";
import { noScript, onTerminal, type TerminalRun } from "../../testing/terminal.ts";

let fake: FakeShoal;
let env: Readonly<Record<string, string>>;
/** Of the present test, as the project in `env`: a reset for each one would start the service as often. */
let domain = "";
let connect: readonly string[] = [];
let earlierCalls = 0;
let tests = 0;
beforeAll(async () => {
  fake = await startFakeShoal();
});
beforeEach(async ({ task }) => {
  env = { SHOAL_BASE_URL: fake.baseUrl, SHOAL_API_KEY: fake.apiKey, SHOAL_PROJECT: task.id, BROWSER: "false" };
  const { status, stderr } = await shoal(["projects", "create", task.id], {
    env: { ...env, SHOAL_PROJECT: "" },
  });
  expect(status, stderr).toBe(0);
  domain = `shop${String(++tests)}.example.com`;
  connect = ["auth", "connect", domain, "--profile", "shop"];
  earlierCalls = fake.calls.length;
});
afterAll(() => fake.close());

const seen = (run: TerminalRun, text: string) => expect.poll(() => run.screen()).toContain(text);

async function addCredential(values: Readonly<Record<string, string>>): Promise<void> {
  await fetch(`${fake.baseUrl}/credentials`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${fake.apiKey}`,
      "content-type": "application/json",
      "x-shoal-project": env.SHOAL_PROJECT ?? "",
    },
    body: JSON.stringify({ name: "shop", domain, values }),
  });
}

const calls = (): FakeShoal["calls"] => fake.calls.slice(earlierCalls);
const submitted = () =>
  calls()
    .filter(({ operationId }) => operationId === "auth.connections.submit")
    .map(({ body }) => body);

describe("shoal auth connect without a terminal", () => {
  it("signs in with a stored credential, and continues with the existing connection", async () => {
    await addCredential({ username: "ada", password: "hunter2" });
    const first = await shoal([...connect, "--credential", "shop"], { env });
    expect(first).toMatchObject({ status: 0, stdout: "" });
    expect(first.stderr).toContain(`Profile shop is signed in to ${domain}.\n`);
    expect(first.stderr).toContain("shoal browsers create --profile-name shop");
    const again = await shoal([...connect, "-o", "json"], { env });
    expect(JSON.parse(again.stdout)).toMatchObject({ domain, status: "AUTHENTICATED" });
    expect(calls().filter(({ operationId }) => operationId === "auth.connections.create")).toHaveLength(2);
  });

  it("answers with --value, each value once, and then refuses to ask", async () => {
    const site: FakeSite = async (login) => {
      let { values } = await login.ask({ fields: ["username", "password"] });
      while (values.password !== "right")
        ({ values } = await login.ask({ fields: ["password"], refused: "Wrong password." }));
      return undefined;
    };
    fake.addSite(domain, site);
    const values = ["--value", "username=ada", "--value", "password=-"];
    const refused = await shoalProcess([...connect, ...values], { env, input: "wrong\n" });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("The site says: Wrong password.");
    expect(refused.stderr).toContain(`error: ${domain} requires Password. Cannot ask without a terminal.`);
    expect(refused.stderr).toMatch(/Sign in on the page http\S+, or pass --value/);
    const joined = await shoal([...connect, "--value", "password=right"], { env });
    expect(joined.stderr).toContain(`A login to ${domain} is running already. This command joins it.`);
    expect(joined.status, joined.stderr).toBe(0);
    expect(submitted()).toMatchObject([
      { field_values: { username: "ada", password: "wrong" } },
      { field_values: { password: "right" } },
    ]);
  });

  it("prints events as lines and reads answers as lines with -o jsonl", async () => {
    const run = start([...connect, "-o", "jsonl"], env);
    const events = () =>
      run
        .stdout()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { flow_step: string; flow_status: string });
    await expect.poll(() => events().at(-1)?.flow_step).toBe("AWAITING_INPUT");
    run.stdin.write('{"field_values":{"username":"ada"}}\n');
    await expect.poll(() => submitted().length).toBe(1);
    run.stdin.write('\n{"field_values":{"username":"ada","password":"hunter2"}}\n');
    const { status, stderr } = await run.outcome;
    expect(status, stderr).toBe(0);
    expect(events().at(-1)).toMatchObject({ flow_step: "COMPLETED", flow_status: "SUCCESS" });
  });

  it("ends with -o jsonl when stdin ends or is not JSON, without repeating it", async () => {
    const ended = await shoal([...connect, "-o", "jsonl"], { env, input: "" });
    expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining("Username and Password") as unknown });
    const broken = await shoal([...connect, "-o", "jsonl"], { env, input: "hunter2\n" });
    expect(broken).toMatchObject({ status: 2, stderr: expect.stringContaining("stdin, line 1") as unknown });
    expect(broken.stderr).not.toContain("hunter2");
  });

  it("reports a failed login with the site's words", async () => {
    fake.addSite(domain, (login) => login.fail("bot_detected", "The site blocks\u001b[2J this browser."));
    const { status, stderr } = await shoal(connect, { env });
    expect(status).toBe(1);
    expect(stderr).toContain(
      String.raw`error: Cannot sign in to ${domain}: The site blocks\x1b[2J this browser. (bot_detected)`,
    );
    expect(stderr).toContain("shoal auth connections timeline ");
  });

  it("prints the request with --dry-run", async () => {
    const { status, stdout } = await shoal([...connect, "--credential", "shop", "--dry-run", "-o", "json"], { env });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      method: "POST",
      body: { domain, profile_name: "shop", credential: { name: "shop" } },
    });
    expect(calls()).toEqual([]);
  });
});

const withoutScript = noScript();
describe.skipIf(withoutScript)(
  `shoal auth connect on a terminal${withoutScript === undefined ? "" : ` (skipped: ${withoutScript})`}`,
  () => {
    it("prompts for fields with hidden passwords, says why it asks again, and offers choices", async () => {
      fake.addSite(domain, async (login) => {
        let { values } = await login.ask({ fields: ["email", "password"] });
        while (values.password !== "right-secret")
          ({ values } = await login.ask({ fields: ["email", "password"], refused: "Wrong password." }));
        const { choice } = await login.ask({
          choices: [
            { id: "sms", type: "mfa_method", label: "Text me", factor: "sms", target: "•••-44" },
            { id: "push", type: "mfa_method", label: "Use the app", factor: "push" },
          ],
        });
        return choice === "push" ? "https://example.com/home" : login.fail("flow_failed");
      });
      const run = onTerminal(connect, { env });
      await seen(run, "Sign in here, or on the page http");
      await seen(run, "E-mail");
      run.type("ada@example.com\r");
      await seen(run, "Password");
      run.type("wrong-secret\r");
      await seen(run, "Wrong password.");
      await seen(run, "E-mail (rejected)");
      run.type("\r"); // keeps it
      await seen(run, "Password (rejected)");
      run.type("right-secret\r");
      await seen(run, "How do you want to continue?");
      await seen(run, "Text me (•••-44)");
      run.type("2");
      expect(await run.status, run.screen()).toBe(0);
      expect(run.screen()).toContain(`Profile shop is signed in to ${domain} as ada@example.com.`);
      expect(run.screen()).not.toMatch(/(wrong|right)-secret/);
    });

    it("shows no keys that are typed before their question, and takes Ctrl-C between questions", async () => {
      const run = onTerminal(connect, { env });
      await seen(run, "Username");
      run.type("ada\r");
      await seen(run, "Password");
      run.type("late-secret\r");
      expect(await run.status, run.screen()).toBe(0);
      expect(run.screen()).not.toContain("late-secret");

      fake.addSite(domain, async (login) => {
        await login.ask({ fields: ["username"] });
        await new Promise(() => undefined);
        return undefined;
      });
      const stopped = onTerminal(["auth", "connect", domain, "--profile", "other"], { env });
      await seen(stopped, "Username");
      stopped.type("ada\r");
      await seen(stopped, `Signing in to ${domain}`);
      // The question after Ctrl-C shows that the command has read the keys before it.
      stopped.type("early-secret\r\u0003");
      await seen(stopped, "Cancel the login?");
      stopped.type("n");
      expect(await stopped.status, stopped.screen()).toBe(130);
      expect(stopped.screen()).toContain("The login continues");
      expect(stopped.screen()).not.toContain("early-secret");
    });

    it("waits for actions elsewhere, and lets a person choose another way", async () => {
      fake.addSite(domain, async (login) => {
        const { choice } = await login.ask({
          external: "Tap 42 on your phone.",
          choices: [{ id: "sms", type: "mfa_method", label: "Text me", factor: "sms" }],
        });
        if (choice === "sms") await login.ask({ external: "Open the link that we sent." });
        return undefined;
      });
      const run = onTerminal(connect, { env });
      await seen(run, "Tap 42 on your phone.");
      await seen(run, "1  Text me");
      run.type("o");
      await seen(run, "Cannot open a browser on this machine.");
      run.type("1");
      await seen(run, "Open the link that we sent.");
      const id = calls().find(({ operationId }) => operationId === "auth.connections.login")?.params.id;
      fake.completeAction(String(id));
      expect(await run.status, run.screen()).toBe(0);
      expect(submitted()).toMatchObject([{ selected_choice_id: "sms" }]);
    });

    it("withdraws a question that is answered elsewhere", async () => {
      const run = onTerminal(connect, { env });
      await seen(run, "Username");
      run.type("ad");
      const id = String(calls().find(({ operationId }) => operationId === "auth.connections.login")?.params.id);
      const answer = await shoal(
        ["auth", "connections", "submit", id, "--field", "username=eve", "--field", "password=hunter2"],
        { env },
      );
      expect(answer.status, answer.stderr).toBe(0);
      expect(await run.status, run.screen()).toBe(0);
    });

    it("cancels the login after Ctrl-C and a yes, and continues it after a no", async () => {
      for (const [key, status] of [
        ["n", "IN_PROGRESS"],
        ["y", "CANCELED"],
      ] as const) {
        const run = onTerminal(connect, { env });
        await seen(run, "Username");
        run.type("\u0003");
        await seen(run, "Cancel the login?");
        run.type(key);
        expect(await run.status, run.screen()).toBe(130);
        if (key === "n") expect(run.screen()).toContain("Follow it with: shoal auth connections follow ");
        const { stdout } = await shoal(["auth", "connections", "list", "-o", "json"], { env });
        expect(JSON.parse(stdout)).toMatchObject([{ flow_status: status }]);
      }
    });

    it("cancels the login after Ctrl-C during a wait", async () => {
      fake.addSite(domain, async (login) => {
        await login.ask({ external: "Tap 42 on your phone." });
        return undefined;
      });
      const run = onTerminal(connect, { env });
      await seen(run, "Tap 42 on your phone.");
      await seen(run, "o  Open the login page");
      run.type("\u0003");
      await seen(run, "Cancel the login?");
      run.type("y");
      expect(await run.status, run.screen()).toBe(130);
    });
  },
);
