interface Continuation {
  readonly seconds: number;
  readonly isPlaying: boolean;
  readonly rate: number;
}

/**
 * Loads the film of a recording into a video element. While the recording runs, the element has the first bytes of the
 * film. It loads a longer part at its end or for a later moment, and the whole film after the end of the recording.
 */
export class GrowingFilm {
  readonly #video: HTMLVideoElement;
  readonly #url: string;
  readonly #closing = new AbortController();
  /** `undefined` = complete. */
  #recordedBytes: number | undefined;
  #loadedBytes: number | undefined;
  #hasLoaded = false;
  #next: Continuation | undefined;

  constructor(video: HTMLVideoElement, url: string) {
    this.#video = video;
    this.#url = url;
    const { signal } = this.#closing;
    video.addEventListener("loadedmetadata", this.#goOn, { signal });
    video.addEventListener("ended", this.#loadMore, { signal });
  }

  /** @param recordedBytes - the length that can be loaded; `undefined` = the film is complete. */
  grow(recordedBytes: number | undefined): void {
    this.#recordedBytes = recordedBytes;
    if (!this.#hasLoaded) this.#load();
    else if (this.#video.ended) this.#loadMore();
    else if (recordedBytes === undefined && this.#isPart) this.#continueAt(this.#video.currentTime);
  }

  seek(seconds: number): void {
    if (this.#isPart && seconds > this.#video.duration) this.#continueAt(seconds);
    else this.#video.currentTime = Math.max(0, seconds);
  }

  close(): void {
    this.#closing.abort();
    this.#video.removeAttribute("src");
    this.#video.load();
  }

  get #isPart(): boolean {
    return this.#loadedBytes !== this.#recordedBytes;
  }

  readonly #loadMore = (): void => {
    if (this.#isPart) this.#continueAt(this.#video.currentTime, true);
  };

  #continueAt(seconds: number, isPlaying = !this.#video.paused || this.#video.ended): void {
    this.#next ??= { seconds, isPlaying, rate: this.#video.playbackRate };
    this.#load();
  }

  #load(): void {
    this.#hasLoaded = true;
    this.#loadedBytes = this.#recordedBytes;
    this.#video.src = filmUrl(this.#url, this.#recordedBytes);
  }

  readonly #goOn = (): void => {
    const next = this.#next;
    this.#next = undefined;
    if (next === undefined) return;
    this.#video.currentTime = next.seconds;
    this.#video.playbackRate = next.rate;
    if (next.isPlaying) void this.#video.play().catch(() => undefined);
  };
}

/** @param bytes - of the film so far; `undefined` = the complete film. */
export function filmUrl(url: string, bytes: number | undefined): string {
  return bytes === undefined ? url : `${url}?bytes=${bytes}`;
}
