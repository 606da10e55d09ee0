// Writes the pictures of README and guide into docs/images: npm run screenshots
// With a folder, it writes pictures of all pages there instead: npm run screenshots -- FOLDER [NAME...]
import { Shoal } from "@shoal/client";
import { startService } from "@shoal/cli/service";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSites } from "../../sites/start-sites.ts";
import { launchPerson } from "../../testing/person.ts";
import { writeUsageHistory } from "./history.ts";
import { takeForDocs } from "./for-docs.ts";
import { serveShop } from "./shop.ts";
import { takeAll } from "./every-scene.ts";
import { makeWorld } from "./world.ts";

const [folder, ...names] = process.argv.slice(2);
const dataDir = mkdtempSync(join(tmpdir(), "shoal-screenshots-"));
const [shop, sites] = await Promise.all([serveShop(), startSites()]);
const [service, person] = await Promise.all([
  startService(dataDir, [
    ...["--warm", "0", "--log-level", "warn", "--max-event-loop-delay-ms", "0"],
    ...["--allow-private-hosts", shop.host, "--allow-private-hosts", sites.privateHost],
    ...["--credential-provider-hosts", "vault.example.com"],
  ]),
  launchPerson(),
]);
try {
  const { apiKey, baseUrl } = service;
  const shoal = new Shoal({ baseUrl, apiKey });
  const [project] = (await shoal.projects.list()).items;
  const [key] = (await shoal.apiKeys.list()).items;
  await writeUsageHistory(dataDir, project?.id ?? "", key?.id ?? "");
  const world = await makeWorld({ shoal, baseUrl, shop, sites });
  const stage = { person, baseUrl, apiKey, world };
  if (folder === undefined) await takeForDocs(stage, join(import.meta.dirname, "../../../../../docs/images"));
  else {
    mkdirSync(folder, { recursive: true });
    await takeAll(stage, folder, names);
  }
} finally {
  await person.close();
  await service.stop();
  shop.close();
  await sites.close();
  rmSync(dataDir, { recursive: true, force: true });
}
