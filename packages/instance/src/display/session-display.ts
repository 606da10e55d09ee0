import type { BrowserViewport } from "@shoal/schemas";
import { maxScreenPixels } from "@shoal/schemas/viewport-limits";
import type { Refusal } from "../session/replies.ts";
import { connectToX } from "./x-connection.ts";
import { createXInput, type XInput } from "./x-input.ts";
import { createXPicture, type XPicture } from "./x-picture.ts";
import { createXScreen, type ScreenMode } from "./x-screen.ts";
import { startXServer } from "./x-server.ts";
import { followXWindows, type ScreenSize } from "./x-windows.ts";

/** The screen, mouse and keyboard of a session whose browser has a window. */
export interface SessionDisplay {
  /** As `DISPLAY` has it: `:7`. */
  readonly name: string;
  readonly mode: ScreenMode;
  readonly input: XInput;
  readonly picture: XPicture;
  /** Whether the X server is gone. */
  readonly ended: boolean;
  /** Why the screen cannot have a size; `undefined` when it can. */
  refusal(viewport: BrowserViewport): Refusal | undefined;
  /** Gives the screen another size and rate; the rate stays when it is absent. */
  change(viewport: BrowserViewport): Promise<void>;
  /** Ends the X server; resolves when it is gone. */
  close(): Promise<void>;
}

export interface SessionDisplayOptions {
  readonly sessionDir: string;
  readonly viewport: BrowserViewport;
  /** Told of each line that the X server prints. */
  readonly onLine: (line: string) => void;
}

/** Every screen can become so wide and so high while it runs, in pixels; its memory is taken at once. */
const roomyPixels = 2560;
const usualRefreshRate = 60;
/** For people. */
const howToGetXvfb = "Install it on the server (Debian: apt-get install xvfb), or ask for headless: true.";

/** @returns a refusal for a screen that is too large, and where Xvfb is not installed. @throws when it does not start. */
export async function openSessionDisplay({ sessionDir, viewport, onLine }: SessionDisplayOptions): Promise<SessionDisplay | Refusal> {
  const refusal = refusalBeyond(viewport, { width: maxScreenPixels, height: maxScreenPixels });
  if (refusal !== undefined) return refusal;
  const most = { width: Math.max(roomyPixels, viewport.width), height: Math.max(roomyPixels, viewport.height) };
  const server = await startXServer({ sessionDir, ...most, onLine });
  if (server === undefined) return { status: 422, code: "no_display", message: `A browser with a window needs the X server Xvfb. ${howToGetXvfb}` };
  try {
    const x = await connectToX(server.number, server.cookie);
    const windows = await followXWindows(x, viewport);
    const [screen, input, picture] = await Promise.all([
      createXScreen(x, windows, { width: viewport.width, height: viewport.height, refreshRate: viewport.refresh_rate ?? usualRefreshRate }),
      createXInput(x, windows),
      createXPicture(x),
    ]);
    return {
      name: `:${String(server.number)}`,
      get mode() {
        return screen.mode;
      },
      input,
      picture,
      get ended() {
        return x.ended;
      },
      refusal: (wanted) => refusalBeyond(wanted, most),
      async change(wanted) {
        await screen.change({ width: wanted.width, height: wanted.height, refreshRate: wanted.refresh_rate ?? screen.mode.refreshRate });
      },
      async close() {
        x.close();
        server.stop();
        await server.exited;
      },
    };
  } catch (error) {
    server.stop();
    throw error;
  }
}

function refusalBeyond({ width, height }: BrowserViewport, most: ScreenSize): Refusal | undefined {
  if (width <= most.width && height <= most.height) return undefined;
  const field = width > most.width ? "width" : "height";
  const way =
    most.width < maxScreenPixels || most.height < maxScreenPixels
      ? "Create a session with the larger size, or a headless one"
      : "Use a headless session";
  return {
    status: 400,
    code: "bad_request",
    message: `body.viewport.${field}: the screen of this session can have at most ${String(most.width)} × ${String(most.height)} pixels. ${way}.`,
  };
}
