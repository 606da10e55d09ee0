import { answerJson, type Instance } from "@shoal/placement";
import { BrowserDownload } from "@shoal/schemas";
import type { IncomingMessage } from "node:http";
import * as z from "zod/mini";

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
  const answer = await ask(instance, `/downloads/${id}`, answerTimeoutMs);
  return checked(BrowserDownload.parse(await answerJson(answer)), id);
}

/** Newest first, at most about `most`. @throws {Error} for an invalid answer. */
export async function* eachDownload(instance: Instance, most: number): AsyncGenerator<BrowserDownload> {
  for (let offset = 0; offset < most; offset += downloadsPageSize) {
    const page = await listDownloads(instance, offset);
    yield* page;
    if (page.length < downloadsPageSize) return;
  }
}

/** Whether a download is finished and has a file. */
export const hasFile = ({ finished_at, path }: BrowserDownload): boolean => finished_at !== null && path !== null;

async function listDownloads(instance: Instance, offset: number): Promise<BrowserDownload[]> {
  const path = `/downloads?limit=${String(downloadsPageSize)}&offset=${String(offset)}`;
  const answer = await ask(instance, path, answerTimeoutMs);
  return z.array(BrowserDownload).parse(await answerJson(answer, { bytes: maxPageBytes, values: maxPageValues }));
}

/** Read or destroy the content. @throws {Error} without a file. */
export function openDownload(instance: Instance, id: string): Promise<IncomingMessage> {
  return ask(instance, `/downloads/${id}/content`, contentTimeoutMs);
}

async function ask(instance: Instance, path: string, timeoutMs: number): Promise<IncomingMessage> {
  const answer = await instance.request({ method: "GET", path, signal: AbortSignal.timeout(timeoutMs) });
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
