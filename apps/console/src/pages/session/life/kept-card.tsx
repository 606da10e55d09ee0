import { Anchor, Skeleton } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { keptDownloadsQuery, mostDownloads as most, replaysQuery } from "../../../api/browser-queries.ts";
import { useCanOperate, useSignedIn } from "../../../api/shoal.ts";
import { momentText } from "../../../base/texts.ts";
import { Details } from "../../../parts/detail/details.tsx";
import { Section } from "../../../parts/detail/section.tsx";
import { Failure } from "../../../parts/states.tsx";
import type { SessionTab } from "../tabs.ts";

const dayMs = 86_400_000;
const counted = (count: number, one: string, many: string) =>
  count === 0 ? `No ${many}` : count >= most ? `${most} ${many} or more` : `${count} ${count === 1 ? one : many}`;

/** The things of an ended session that the service keeps or deletes. */
export function KeptCard({ browser }: { readonly browser: Browser }) {
  const { session_id: id, created_at } = browser;
  const { shoal, project } = useSignedIn();
  const canOperate = useCanOperate();
  const replays = useQuery(replaysQuery(shoal, id));
  const downloads = useQuery(keptDownloadsQuery(shoal, id));
  const telemetry = useQuery({
    queryKey: ["kept-telemetry", id],
    queryFn: async ({ signal }) =>
      (await shoal.browsers.telemetry.events(id, { since: created_at, limit: 1 }, { signal })).items.length,
    enabled: canOperate,
  });
  const days = useQuery({
    queryKey: ["replay-retention", project?.id],
    queryFn: async ({ signal }) =>
      (await shoal.organization.entitlements.get({ signal })).features.browser_replays.retention_days,
    staleTime: Infinity,
  });
  const error = replays.error ?? telemetry.error ?? downloads.error;
  const films = replays.data?.filter(({ finished_at }) => finished_at != null) ?? [];
  const filmUntil = untilOf(
    films.map(({ finished_at }) => Date.parse(finished_at ?? created_at)),
    days.data,
  );
  return (
    <Section title="Kept after the end">
      {error !== null && <Failure error={error} />}
      <Details
        rows={[
          [
            "Recordings",
            <Kept key="recordings" query={replays} tab={films.length > 0 ? "recordings" : undefined}>
              {replays.data && `${counted(films.length, "recording", "recordings")}${filmUntil}`}
            </Kept>,
          ],
          [
            "Telemetry",
            canOperate && (
              <Kept key="telemetry" query={telemetry} tab={telemetry.data === 1 ? "events" : undefined}>
                {telemetry.data !== undefined &&
                  (telemetry.data === 1
                    ? "Kept until the retention of the service ends"
                    : capturesAny(browser)
                      ? "None: its retention has ended"
                      : "None: the session did not capture it")}
              </Kept>
            ),
          ],
          [
            "Downloads",
            <Kept
              key="downloads"
              query={downloads}
              tab={canOperate && typeof downloads.data === "object" && downloads.data.length > 0 ? "files" : undefined}
            >
              {downloads.data !== undefined && downloadsText(downloads.data)}
            </Kept>,
          ],
          ["Audit log", "The callers that started, changed and ended it, for administrators"],
          ["Profile", profileText(browser)],
          ["Deleted", "Files, processes, terminals, and the logs of its programs"],
        ]}
      />
    </Section>
  );
}

/** The first deletion: the oldest recording goes first. */
function untilOf(finishedMs: readonly number[], days: number | undefined): string {
  if (finishedMs.length === 0 || days === undefined) return "";
  return days === 0 ? ", without an end" : `, until ${momentText(Math.min(...finishedMs) + days * dayMs)}`;
}

const downloadsText = (files: readonly unknown[] | "not kept"): string =>
  files === "not kept"
    ? "Deleted: download_retention_hours of the service is 0"
    : `${counted(files.length, "file", "files")}, until the retention of the service ends`;

const capturesAny = ({ telemetry }: Browser): boolean =>
  Object.values(telemetry?.browser ?? {}).some((one) => one?.enabled === true);

function profileText({ profile, profile_save_changes }: Browser): string {
  if (profile === undefined) return "It had no profile: its cookies are deleted";
  return profile_save_changes === true
    ? `Its cookies and storage were saved to ${profile.name ?? profile.id}`
    : "Its cookies were not saved to the profile";
}

interface KeptProps {
  /** Counts the things. */
  readonly query: { readonly isPending: boolean };
  /** Shows the things. */
  readonly tab?: SessionTab | undefined;
  readonly children: string | false | undefined;
}

function Kept({ query, tab, children }: KeptProps) {
  if (query.isPending) return <Skeleton height={20} maw={240} aria-label="Reading" />;
  return (
    <>
      {children}{" "}
      {tab !== undefined && (
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="." search={(before: object) => ({ ...before, tab })} {...props} />}
        >
          Open
        </Anchor>
      )}
    </>
  );
}
