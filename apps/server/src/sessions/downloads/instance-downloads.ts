import { answerJson, type Instance } from "@shoal/placement";
import { anySignal } from "@shoal/primitives";
import { BrowserDownload } from "@shoal/schemas";
import type { IncomingMessage } from "node:http";
import * as z from "zod/mini";
import { isDownloadId } from "./kept-files.ts";

const answerTimeoutMs = 10_000;
/** A hostile instance must not occupy a turn forever. */
const contentTimeoutMs = 10 * 60 * 1000;
const downloadsPageSize = 50;
/** Of one page; a name and an address have at most 3072 characters. */
const maxPageBytes = 2 * 2 ** 20;
/** A download has about ten. */
const maxPageValues = 50 * downloadsPageSize;
const maxNameLength = 1024;
const maxUrlLength = 2048;

/** Of an instance, which may be compromised: every value is checked. @throws {Error} for an invalid answer. */
export async function describeDownload(instance: Instance, id: string): Promise<BrowserDownload> {
  const answer = await ask(instance, `/downloads/${id}`, AbortSignal.timeout(answerTimeoutMs));
  return checked(BrowserDownload.parse(await answerJson(answer)), id);
}

/** Newest first, at most about `most`, each once: the list may move between two pages. @throws {Error} for an invalid answer. */
export async function* eachDownload(instance: Instance, most: number): AsyncGenerator<BrowserDownload> {
  const ids = new Set<string>();
  for (let offset = 0; offset < most; offset += downloadsPageSize) {
    const page = await listDownloads(instance, offset);
    for (const download of page) {
      const { download_id: id } = download;
      if (!isDownloadId(id) || ids.has(id)) continue;
      ids.add(id);
      yield checked(download, id);
    }
    if (page.length < downloadsPageSize) return;
  }
}

/** Whether a download is finished and has a file. */
export const hasFile = ({ finished_at, path }: BrowserDownload): boolean => finished_at !== null && path !== null;

async function listDownloads(instance: Instance, offset: number): Promise<BrowserDownload[]> {
  const path = `/downloads?limit=${String(downloadsPageSize)}&offset=${String(offset)}`;
  const answer = await ask(instance, path, AbortSignal.timeout(answerTimeoutMs));
  return z.array(BrowserDownload).parse(await answerJson(answer, { bytes: maxPageBytes, values: maxPageValues }));
}

/**
 * Read or destroy the content.
 * @param reader - of content that is read at the speed of a client; without it, a limit applies to the whole time.
 * @throws {Error} without a file.
 */
export async function openDownload(instance: Instance, id: string, reader?: AbortSignal): Promise<IncomingMessage> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
  }, answerTimeoutMs);
  const limit = reader === undefined ? AbortSignal.timeout(contentTimeoutMs) : anySignal([reader, late.signal]);
  try {
    return await ask(instance, `/downloads/${id}/content`, limit);
  } finally {
    clearTimeout(timer);
  }
}

async function ask(instance: Instance, path: string, signal: AbortSignal): Promise<IncomingMessage> {
  const answer = await instance.request({ method: "GET", path, signal });
  if (answer.statusCode === 200) return answer;
  answer.destroy();
  throw new Error(`The instance answered ${String(answer.statusCode)}.`);
}

function checked(download: BrowserDownload, id: string): BrowserDownload {
  if (download.download_id !== id) throw new Error("The instance described another download.");
  return {
    ...download,
    name: download.name.slice(0, maxNameLength),
    origin_url: download.origin_url.slice(0, maxUrlLength),
    path: download.path?.slice(0, 4096) ?? null,
    sha256: download.sha256?.slice(0, 64) ?? null,
  };
}
