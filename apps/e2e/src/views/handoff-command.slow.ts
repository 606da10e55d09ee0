import { examineHost } from "@shoal/placement";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noScript, onTerminal, type TerminalRun } from "../testing/terminal.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";

const { chromium: installed } = await examineHost();
const withoutScript = noScript();
const reason = withoutScript === undefined ? "" : ` (skipped: ${withoutScript})`;

describe.skipIf(installed === undefined || withoutScript !== undefined)(`shoal handoff on a terminal${reason}`, () => {
  const test = useService();
  const session = useSession(test);
  const start = (...args: string[]) =>
    onTerminal(["handoff", ...args, "--session", session.id], {
      SHOAL_BASE_URL: test.service.baseUrl,
      SHOAL_API_KEY: test.service.apiKey,
      SHOAL_CONFIG_DIR: join(tmpdir(), "shoal-no-config"),
    });
  const seen = (run: TerminalRun, text: string) => expect.poll(() => run.screen()).toContain(text);
  const linkIn = (run: TerminalRun): string =>
    /http\S+\/browser\/live\/\S+/.exec(run.screen())?.[0] ?? expect.fail(run.screen());

  it("prints the link, follows the person and shows the note", async () => {
    const run = start("Please sign in", "--label", "Ana");
    await seen(run, "Waiting for the person.");
    const ofPerson = (action: string, body = "") => fetch(`${linkIn(run)}/handoff/${action}`, { method: "POST", body });
    expect((await ofPerson("take")).status).toBe(200);
    expect((await ofPerson("release", "done \u001b[31mred")).status).toBe(200);
    expect(await run.status, run.screen()).toBe(0);
    expect(run.screen()).toContain("Ana returned control.");
    // Control characters of the person do not reach the terminal.
    expect(run.screen()).toMatch(/done .*\[31mred/);
    expect(run.screen()).not.toContain("\u001b[31mred");
  });

  it("cancels the request at Ctrl-C", async () => {
    const run = start("Please sign in");
    await seen(run, "Waiting for the person.");
    const link = linkIn(run);
    run.type("\u0003");
    expect(await run.status).toBe(130);
    expect(await test.shoal.browsers.handoff.get(session.id)).toMatchObject({ status: "canceled" });
    expect((await fetch(link)).status).toBe(401);
  });
});
