import type { BrowserViewport } from "@shoal/schemas";
import { maxScreenPixels } from "@shoal/schemas/viewport-limits";
import type { Refusal } from "../../http/replies.ts";
import { connectToX } from "./x-connection.ts";
import { createXInput, type XInput } from "./x-input.ts";
import { createXPicture, type XPicture } from "./x-picture.ts";
import { createXScreen, type ScreenMode } from "./x-screen.ts";
import { startXServer } from "./x-server.ts";
import { followXWindows, type ScreenSize } from "./x-windows.ts";

export interface SessionDisplay {
  /** The value of `DISPLAY`, for example `:7`. */
  readonly name: string;
  readonly mode: ScreenMode;
  readonly input: XInput;
  readonly picture: XPicture;
  readonly ended: boolean;
  refusal(viewport: BrowserViewport): Refusal | undefined;
  /** An absent refresh rate stays. */
  change(viewport: BrowserViewport): Promise<void>;
  close(): Promise<void>;
}

export interface SessionDisplayOptions {
  readonly sessionDir: string;
  readonly viewport: BrowserViewport;
  readonly onLine: (line: string) => void;
}

/** Every screen can grow to this width and height at runtime, in pixels; its memory is allocated at the start. */
const roomyPixels = 2560;
const usualRefreshRate = 60;
const howToGetXvfb = "Install it on the server (Debian: apt-get install xvfb), or use headless: true.";

/** @returns a refusal when the screen is too large or Xvfb is missing. @throws when Xvfb does not start. */
export async function openSessionDisplay({
  sessionDir,
  viewport,
  onLine,
}: SessionDisplayOptions): Promise<SessionDisplay | Refusal> {
  const refusal = refusalBeyond(viewport, { width: maxScreenPixels, height: maxScreenPixels });
  if (refusal !== undefined) return refusal;
  const most = { width: Math.max(roomyPixels, viewport.width), height: Math.max(roomyPixels, viewport.height) };
  const server = await startXServer({ sessionDir, ...most, onLine });
  if (server === undefined)
    return {
      status: 422,
      code: "no_display",
      message: `A browser with a window needs the X server Xvfb. ${howToGetXvfb}`,
    };
  try {
    const x = await connectToX(server.number, server.cookie);
    const windows = await followXWindows(x, viewport);
    const [screen, input, picture] = await Promise.all([
      createXScreen(x, windows, {
        width: viewport.width,
        height: viewport.height,
        refreshRate: viewport.refresh_rate ?? usualRefreshRate,
      }),
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
        await screen.change({
          width: wanted.width,
          height: wanted.height,
          refreshRate: wanted.refresh_rate ?? screen.mode.refreshRate,
        });
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
  const side = width > most.width ? "width" : "height";
  const field = `body.viewport.${side}`;
  const limit = `${String(most.width)} × ${String(most.height)}`;
  const hint =
    most.width < maxScreenPixels || most.height < maxScreenPixels
      ? "Create a session with the larger size, or a headless one."
      : "Use a headless session.";
  return {
    status: 400,
    code: "bad_request",
    message: `${field}: the screen of this session can have at most ${limit} pixels. ${hint}`,
    field,
    limit: most[side],
    hint,
  };
}
