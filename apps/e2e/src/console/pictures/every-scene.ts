import type { Browser, BrowserContext, Page } from "playwright-core";
import { join } from "node:path";
import { phone, signIn } from "../open-console.ts";
import { type Scene, scenesOf } from "./scenes.ts";
import type { World } from "./world.ts";

/** A service with content, and a person's browser. */
export interface Stage {
  readonly person: Browser;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly world: World;
}

const sizes = [phone, { width: 800, height: 1_000 }, { width: 1_440, height: 900 }] as const;
const colorSchemes = ["light", "dark"] as const;

/** On a phone, a tablet and a wide screen, light and dark. @param names - of scenes; all without one. */
export async function takeAll(stage: Stage, folder: string, names: readonly string[]): Promise<void> {
  const scenes = scenesOf(stage.world).filter(({ name }) => names.length === 0 || names.includes(name));
  for (const viewport of sizes)
    await Promise.all(
      colorSchemes.map(async (colorScheme) => {
        const options = { colorScheme, viewport, hasTouch: viewport.width < 1_440 };
        const signedIn = await signedInContext(stage, options);
        const signedOut = await stage.person.newContext(options);
        for (const scene of scenes) {
          const context = scene.isSignedOut === true ? signedOut : signedIn;
          const file = `${scene.name}-${String(viewport.width)}-${colorScheme}.png`;
          await takeScene(context, stage, scene, join(folder, file));
        }
        await Promise.all([signedIn.close(), signedOut.close()]);
      }),
    );
}

async function takeScene(context: BrowserContext, { baseUrl }: Stage, scene: Scene, path: string): Promise<void> {
  const page = await context.newPage();
  try {
    await openScene(page, baseUrl, scene);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (wider > 0) process.stderr.write(`${path}: The page is ${String(wider)} pixels wider than its screen.\n`);
    await page.screenshot({ path, fullPage: scene.isWhole !== false, animations: "disabled" });
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`${path}: ${String(error)}\n`);
    await page.screenshot({ path, animations: "disabled" }).catch(() => undefined);
  } finally {
    await page.close();
  }
}

/** Opens a page, and waits until it shows its content. */
export async function openScene(page: Page, baseUrl: string, { path, prepare }: Scene): Promise<void> {
  page.setDefaultTimeout(10_000);
  await page.goto(`${baseUrl}${path.startsWith("/") ? path : `/console/${path}`}`);
  await page.getByRole("heading").or(page.getByRole("alert")).first().waitFor();
  await settled(page);
  await prepare?.(page);
  await settled(page);
  await page.evaluate(() => document.fonts.ready);
}

/** Parts of a page load one after the other. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      new Promise((resolve) => {
        const isLoading = () => document.querySelector("[aria-label^=Loading], [aria-label^=Reading]") !== null;
        if (isLoading()) resolve(false);
        else
          setTimeout(() => {
            resolve(!isLoading());
          }, 250);
      }),
  );
}

export async function signedInContext(
  { person, baseUrl, apiKey }: Stage,
  options: Parameters<Browser["newContext"]>[0],
): Promise<BrowserContext> {
  const context = await person.newContext(options);
  const page = await context.newPage();
  await page.goto(`${baseUrl}/console/`);
  await signIn(page, apiKey);
  await page.close();
  return context;
}
