import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../cdp/pipe-connection.ts";

/** A screencast that is kept going. */
export interface Screencast {
  /** Resolves when it has begun; rejects when the page or the browser is gone. */
  readonly begun: Promise<void>;
  /** To be called with each picture. */
  pictureCame(): void;
  /** To be called when the page has gone to another address: a picture of it is owed. */
  pageChanged(): void;
  end(): void;
}

/** How long a picture may take before it is asked for again, in milliseconds; twice as long each time. */
const firstWaitMs = 300;
const maxTries = 7;

/**
 * Begins `Page.startScreencast`. Of a page that is on its way elsewhere at that moment, and then stands still, Chromium sends nothing:
 * the screencast is begun again until there is a picture.
 */
export function beginScreencast(cdp: CdpConnection, sessionId: string, parameters: Protocol.Page.StartScreencastRequest): Screencast {
  let timer: NodeJS.Timeout | undefined;
  let tries = 0;
  let ended = false;

  function expectPicture(): void {
    clearTimeout(timer);
    if (!ended && tries < maxTries) timer = setTimeout(() => void again().catch(() => undefined), firstWaitMs * 2 ** tries++);
  }

  async function again(): Promise<void> {
    await cdp.send("Page.stopScreencast", undefined, sessionId);
    if (ended) return;
    await cdp.send("Page.startScreencast", parameters, sessionId);
    expectPicture();
  }

  expectPicture();
  const begun = cdp.send("Page.startScreencast", parameters, sessionId);
  return {
    begun,
    pictureCame() {
      clearTimeout(timer);
    },
    pageChanged() {
      tries = 0;
      expectPicture();
    },
    end() {
      ended = true;
      clearTimeout(timer);
    },
  };
}
