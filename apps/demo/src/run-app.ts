import type { Shoal } from "@shoal/client";
import { execFile } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Transcript } from "./transcript.ts";

const run = promisify(execFile);
const command = fileURLToPath(new URL("dist/shoal.js", import.meta.resolve("@shoal/cli/package.json")));

interface AppRun {
  readonly shoal: Shoal;
  readonly service: { readonly baseUrl: string; readonly apiKey: string };
  /** Temporary. */
  readonly folder: string;
  /** A page with invoices. */
  readonly url: string;
}

/** Deploys an app, invokes it and deletes it. */
export async function runApp({ shoal, service, folder, url }: AppRun, { step, note }: Transcript): Promise<void> {
  await mkdir(folder);
  await copyFile(join(import.meta.dirname, "bookkeeper.ts"), join(folder, "index.ts"));
  const dependencies = { "@shoal/client": "*", zod: "^4.6.0" };
  const manifest = { name: "bookkeeper", private: true, type: "module", dependencies };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  const env = { ...process.env, SHOAL_BASE_URL: service.baseUrl, SHOAL_API_KEY: service.apiKey };
  const deployed = await step("deploy an app that uses a browser (shoal deploy)", () =>
    run(process.execPath, [command, "deploy", join(folder, "index.ts"), "-o", "jsonl"], { env }).then(
      () => true,
      (error: unknown) => {
        const { stderr = "" } = error as { readonly stderr?: string };
        // This machine has no bundler or no sandbox for apps.
        if (/cannot be built on|cannot run/.test(stderr)) return stderr.trim().split("\n")[0] ?? "";
        throw new Error(`The deployment failed:\n${stderr}`);
      },
    ),
  );
  if (deployed !== true) {
    note(`skipped: ${deployed}`);
    return;
  }
  const { id, output } = await step("invoke its action, which opens a browser and reads the page", async () => {
    const app = { app_name: "bookkeeper", action_name: "latest-invoice", payload: JSON.stringify({ url }) };
    const created = await shoal.invocations.create({ ...app, async: true });
    const ended = await shoal.invocations.wait(created.id, {
      onEvent: (event) => {
        if (event.event === "log") note(`log     ${event.message}`);
      },
    });
    if (ended.status !== "succeeded") throw new Error(`The action failed: ${String(ended.status_reason)}`);
    return ended;
  });
  note(`output  ${String(output)}`);
  const { browsers } = await shoal.invocations.listBrowsers(id);
  await step("delete the app", async () => {
    for (const { deployment } of (await shoal.apps.list({ app_name: "bookkeeper" })).items)
      await shoal.deployments.delete(deployment);
  });
  note(`${String(browsers.length)} browsers of the invocation are left`);
}
