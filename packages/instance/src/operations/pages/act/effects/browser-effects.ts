import type { CdpConnection } from "../../../../browser/cdp/cdp-connection.ts";

const maxDownloads = 20;
const maxNameCharacters = 255;

/** Collects the downloads that begin during an action. */
export class BrowserEffects {
  readonly downloads: string[] = [];
  readonly #stop: () => void;

  constructor(cdp: CdpConnection) {
    this.#stop = cdp.on("Browser.downloadWillBegin", ({ suggestedFilename }, sessionId) => {
      if (sessionId === undefined && this.downloads.length < maxDownloads)
        this.downloads.push(suggestedFilename.slice(0, maxNameCharacters));
    });
  }

  close(): void {
    this.#stop();
  }
}
