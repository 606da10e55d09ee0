import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../cdp/cdp-connection.ts";

export interface Screencast {
  /** Resolves when it has started; rejects when the page or the browser has ended. */
  readonly begun: Promise<void>;
  pictureCame(): void;
  /** Call this after a navigation: another picture is due. */
  pageChanged(): void;
  end(): void;
}

/** Milliseconds to wait for a picture before restarting; doubles each time. */
const firstWaitMs = 300;
const maxTries = 7;

/** Restarts the screencast until a picture arrives: Chromium sends none of a page that is navigating at its start. */
export function beginScreencast(
  cdp: CdpConnection,
  sessionId: string,
  parameters: Protocol.Page.StartScreencastRequest,
): Screencast {
  let timer: NodeJS.Timeout | undefined;
  let tries = 0;
  let ended = false;

  function expectPicture(): void {
    clearTimeout(timer);
    if (!ended && tries < maxTries)
      timer = setTimeout(() => void again().catch(() => undefined), firstWaitMs * 2 ** tries++);
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
