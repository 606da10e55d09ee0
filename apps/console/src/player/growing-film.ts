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
  readonly #lastPicture: HTMLCanvasElement;
  readonly #url: string;
  readonly #closing = new AbortController();
  /** `undefined` = complete. */
  #recordedBytes: number | undefined;
  #loadedBytes: number | undefined;
  #hasLoaded = false;
  #next: Continuation | undefined;

  /** @param lastPicture - lies on the video; it shows the last picture while the video has none. */
  constructor(video: HTMLVideoElement, lastPicture: HTMLCanvasElement, url: string) {
    this.#video = video;
    this.#lastPicture = lastPicture;
    this.#url = url;
    const { signal } = this.#closing;
    video.addEventListener("loadedmetadata", this.#goOn, { signal });
    video.addEventListener("ended", this.#loadMore, { signal });
    video.addEventListener("seeked", this.#uncover, { signal });
    video.addEventListener("error", this.#fail, { signal });
  }

  /** @param recordedBytes - the length that can be loaded; `undefined` = the film is complete. */
  grow(recordedBytes: number | undefined): void {
    this.#recordedBytes = recordedBytes;
    if (!this.#hasLoaded) this.#load();
    else if (this.#video.ended) this.#loadMore();
    else if (recordedBytes === undefined && this.#isPart) this.#continueAt(this.#video.currentTime);
  }

  seek(seconds: number): void {
    if (this.#next !== undefined) this.#next = { ...this.#next, seconds };
    else if (this.#isPart && seconds > this.#video.duration) this.#continueAt(seconds);
    else this.#video.currentTime = Math.max(0, seconds);
  }

  /** A longer part loads: the state of the video is not yet that of the film. */
  get isLoadingMore(): boolean {
    return this.#next !== undefined || (!this.#lastPicture.hidden && this.#video.seeking);
  }

  close(): void {
    this.#closing.abort();
    this.#lastPicture.hidden = true;
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
    this.#cover();
    this.#load();
  }

  #cover(): void {
    const { readyState, videoHeight, videoWidth } = this.#video;
    if (readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) {
      this.#lastPicture.width = videoWidth;
      this.#lastPicture.height = videoHeight;
      this.#lastPicture.getContext("2d")?.drawImage(this.#video, 0, 0);
    }
    this.#lastPicture.hidden = false;
  }

  readonly #uncover = (): void => {
    if (this.#next === undefined) this.#lastPicture.hidden = true;
  };

  readonly #fail = (): void => {
    this.#next = undefined;
    this.#lastPicture.hidden = true;
  };

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
