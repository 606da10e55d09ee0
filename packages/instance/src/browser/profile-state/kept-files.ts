import { hasCode } from "@shoal/primitives";
import type { Dirent } from "node:fs";
import { copyFile, mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Caches and files of a single run. The rest of `Default` is kept, including files of future versions. */
const leftOut = [
  /^(?:Cache|Code Cache|GPUCache|GPUPersistentCache|Shared Dictionary|blob_storage|shared_proto_db|Session Storage|Crashpad|Download Service|AutofillStrikeDatabase|BudgetDatabase|commerce_subscription_db|discount_infos_db|discounts_db|parcel_tracking_db|PersistentOriginTrials|chrome_cart_db|coupon_db|declarative_performance_observer.*|Feature Engagement Tracker|Site Characteristics Database|Segmentation Platform|optimization_guide.*|OptimizationGuide.*|Dawn.*Cache|Sessions.*|segmentation_platform|Safe Browsing.*|component_crx_cache|DevToolsActivePort|Singleton.*|BrowserMetrics.*|heavy_ad_intervention.*|previews_opt_out.*)$/i,
];
/** In any folder: locks, and logs of databases. */
const leftOutEverywhere = /^(?:LOCK|LOG|LOG\.old|Singleton.*|\.org\.chromium\..*)$/;

export interface KeptFile {
  /** Relative to the profile's folder, with `/`. */
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
}

async function entriesOf(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch {
    // The running browser may have removed it.
    return [];
  }
}

async function* filesBelow(folder: string, name: string): AsyncGenerator<KeptFile, void, undefined> {
  for (const entry of await entriesOf(join(folder, ...name.split("/")))) {
    if (leftOutEverywhere.test(entry.name)) continue;
    const below = `${name}/${entry.name}`;
    if (name === "Default" && leftOut.some((pattern) => pattern.test(entry.name))) continue;
    if (entry.isDirectory()) yield* filesBelow(folder, below);
    else if (entry.isFile()) yield* fileAt(folder, below);
  }
}

async function* fileAt(folder: string, name: string): AsyncGenerator<KeptFile, void, undefined> {
  const path = join(folder, ...name.split("/"));
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === true) yield { name, path, sizeBytes: found.size, modifiedAt: found.mtime };
}

export async function* keptFiles(folder: string): AsyncGenerator<KeptFile, void, undefined> {
  yield* fileAt(folder, "Local State");
  yield* filesBelow(folder, "Default");
}

/** Copies the files of a running browser: packing takes longer, and files must not change during it. */
export async function copyKeptFiles(folder: string, to: string): Promise<void> {
  for await (const { name, path } of keptFiles(folder)) {
    const target = join(to, ...name.split("/"));
    await mkdir(dirname(target), { recursive: true });
    // A database may remove files while it runs.
    await copyFile(path, target).catch((error: unknown) => {
      if (!hasCode(error, "ENOENT")) throw error;
    });
  }
}
