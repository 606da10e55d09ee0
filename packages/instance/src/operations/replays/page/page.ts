interface ShownReplay {
  readonly started_at?: string | null;
  readonly finished_at?: string | null;
  readonly failure_reason?: string;
  readonly marks?: readonly { readonly title: string; readonly offset_seconds: number }[];
  readonly ready: boolean;
}

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${id}.`);
  return found;
}

const film = element("film", HTMLVideoElement);
const note = element("note", HTMLElement);
const speed = element("speed", HTMLSelectElement);
const address = location.origin + location.pathname.replace(/\/+$/, "");
/** Interval for checking whether a running recording is complete. */
const againMs = 2_000;

function clockOf(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  return (parts[0] === "00" ? parts.slice(1) : parts).join(":");
}

function showMarks(marks: NonNullable<ShownReplay["marks"]>): void {
  element("marks", HTMLElement).hidden = marks.length === 0;
  const buttons = marks.map(({ title, offset_seconds: seconds }) => {
    const button = document.createElement("button");
    button.type = "button";
    const time = document.createElement("span");
    time.className = "time";
    time.textContent = clockOf(seconds);
    const name = document.createElement("span");
    name.textContent = title;
    button.append(time, name);
    button.onclick = () => {
      film.currentTime = seconds;
      void film.play();
    };
    return button;
  });
  element("mark-list", HTMLOListElement).replaceChildren(
    ...buttons.map((button) => {
      const item = document.createElement("li");
      item.append(button);
      return item;
    }),
  );
  film.ontimeupdate = () => {
    const present = marks.findLastIndex(({ offset_seconds: seconds }) => seconds <= film.currentTime + 0.05);
    for (const [place, button] of buttons.entries()) {
      if (place === present) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  };
}

function showFilm(): void {
  film.src = `${address}/film`;
  const chapters = document.createElement("track");
  chapters.kind = "chapters";
  chapters.src = `${address}/chapters`;
  chapters.default = true;
  film.append(chapters);
  film.hidden = false;
  element("tools", HTMLElement).hidden = false;
  element("save", HTMLAnchorElement).href = `${address}/film`;
}

async function load(): Promise<void> {
  const answer = await fetch(`${address}/info`, { cache: "no-store", referrerPolicy: "no-referrer" });
  const said = (await answer.json()) as ShownReplay & { message?: string };
  if (!answer.ok) {
    note.textContent = said.message ?? "This recording no longer exists.";
    return;
  }
  const started = said.started_at == null ? undefined : new Date(said.started_at);
  const title = started === undefined ? "Recording" : `Recording of ${started.toLocaleString()}`;
  element("title", HTMLElement).textContent = title;
  document.title = title;
  showMarks(said.marks ?? []);
  if (said.ready) {
    note.textContent =
      started === undefined || said.finished_at == null
        ? ""
        : `${clockOf((Date.parse(said.finished_at) - started.getTime()) / 1000)} long`;
    showFilm();
    if (said.failure_reason !== undefined)
      note.textContent = `${note.textContent}. ${said.failure_reason}`.replace(/^\. /, "");
  } else if (said.failure_reason !== undefined) note.textContent = said.failure_reason;
  else {
    note.textContent = "Recording in progress. The film appears here when the recording has ended.";
    setTimeout(() => void again(), againMs);
  }
}

async function again(): Promise<void> {
  try {
    await load();
  } catch {
    note.textContent = "The service cannot be reached. Trying again.";
    setTimeout(() => void again(), againMs);
  }
}

speed.onchange = () => {
  film.playbackRate = Number(speed.value);
};
void again();
