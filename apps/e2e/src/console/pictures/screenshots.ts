// Writes the pictures of README and guide into docs/images: npm run screenshots
// With "film", it writes the film of the README instead: npm run screenshots -- film
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
import { takeAgentFilm } from "./agent-film.ts";
import { takeAll } from "./every-scene.ts";
import { makeWorld } from "./world.ts";

const [folder, ...names] = process.argv.slice(2);
const images = join(import.meta.dirname, "../../../../../docs/images");
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
  if (folder === "film") await takeAgentFilm({ shoal, apiKey, baseUrl, person, shop }, join(images, "agent.webp"));
  else await takePictures(shoal, { apiKey, baseUrl });
} finally {
  await person.close();
  await service.stop();
  shop.close();
  await sites.close();
  rmSync(dataDir, { recursive: true, force: true });
}

async function takePictures(
  shoal: Shoal,
  { apiKey, baseUrl }: { readonly apiKey: string; readonly baseUrl: string },
): Promise<void> {
  const [project] = (await shoal.projects.list()).items;
  const [key] = (await shoal.apiKeys.list()).items;
  await writeUsageHistory(dataDir, project?.id ?? "", key?.id ?? "");
  const world = await makeWorld({ shoal, baseUrl, shop, sites });
  const stage = { person, baseUrl, apiKey, world };
  if (folder === undefined) await takeForDocs(stage, images);
  else {
    mkdirSync(folder, { recursive: true });
    await takeAll(stage, folder, names);
  }
}
