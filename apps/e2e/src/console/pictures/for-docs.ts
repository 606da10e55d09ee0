import type { Page } from "playwright-core";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { phone } from "../open-console.ts";
import { openScene, signedInContext, type Stage } from "./every-scene.ts";
import { scenesOf } from "./scenes.ts";

interface DocsPicture {
  /** Of the scene. */
  readonly scene: string;
  /** Below docs/images, without an ending. */
  readonly file: string;
  readonly colorScheme: "dark" | "light";
  readonly viewport: { readonly width: number; readonly height: number };
}

const wide = { width: 1280, height: 800 };

/** The pictures of README and guide. */
const pictures: readonly DocsPicture[] = [
  { scene: "session-live", file: "console-light", colorScheme: "light", viewport: wide },
  { scene: "session-live", file: "console-dark", colorScheme: "dark", viewport: wide },
  { scene: "sessions-grid", file: "console-sessions", colorScheme: "light", viewport: wide },
  { scene: "session-details-failed", file: "console-failure", colorScheme: "light", viewport: wide },
  { scene: "replay", file: "console-recording", colorScheme: "dark", viewport: wide },
  { scene: "usage", file: "console-usage", colorScheme: "light", viewport: wide },
  { scene: "session-files", file: "console-phone", colorScheme: "dark", viewport: phone },
];

/** Enough for text on screens with a high density. */
const deviceScaleFactor = 1.5;

export async function takeForDocs(stage: Stage, folder: string): Promise<void> {
  const scenes = scenesOf(stage.world);
  for (const { scene: wanted, file, ...look } of pictures) {
    const scene = scenes.find(({ name }) => name === wanted);
    if (scene === undefined) throw new Error(`Unknown scene "${wanted}".`);
    const context = await signedInContext(stage, { ...look, deviceScaleFactor });
    const page = await context.newPage();
    await openScene(page, stage.baseUrl, scene);
    const picture = await page.screenshot({ animations: "disabled" });
    writeFileSync(join(folder, `${file}.webp`), await asWebp(page, picture));
    await context.close();
  }
}

/** WebP takes a third of the space of PNG. Chromium is the encoder. */
async function asWebp(page: Page, png: Buffer): Promise<Buffer> {
  await page.goto("about:blank");
  const data = await page.evaluate(
    async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.naturalWidth;
      canvas.height = image.naturalHeight;
      canvas.getContext("2d")?.drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", 0.82);
    },
    `data:image/png;base64,${png.toString("base64")}`,
  );
  return Buffer.from(data.slice(data.indexOf(",") + 1), "base64");
}
