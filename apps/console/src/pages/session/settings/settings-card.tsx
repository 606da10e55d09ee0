import { Badge, Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Browser } from "@shoal/schemas";
import { Pencil } from "lucide-react";
import { type ReactNode, Suspense } from "react";
import { useCanOperate } from "../../../api/shoal.ts";
import { durationText } from "../../../base/texts.ts";
import { lazyPart } from "../../../parts/lazy-part.ts";
import { CodeBlock } from "../../../parts/code.tsx";
import { Details } from "../../../parts/detail/details.tsx";
import { Section } from "../../../parts/detail/section.tsx";

const SettingsDialog = lazyPart(() => import("./settings-dialog.tsx"), "SettingsDialog");

/** Everything that was chosen for a session, and a dialog that changes it while it runs. */
export function SettingsCard({ browser }: { readonly browser: Browser }) {
  const canOperate = useCanOperate();
  const [isOpen, { open, close }] = useDisclosure();
  const [wasOpened, { open: load }] = useDisclosure();
  const canChange = canOperate && browser.deleted_at === undefined;
  return (
    <Section
      title="Settings"
      actions={
        canChange && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Pencil size={14} aria-hidden />}
            onClick={() => {
              load();
              open();
            }}
          >
            Change
          </Button>
        )
      }
    >
      <Details rows={rowsOf(browser)} />
      {wasOpened && canChange && (
        <Suspense>
          <SettingsDialog browser={browser} isOpen={isOpen} close={close} />
        </Suspense>
      )}
    </Section>
  );
}

function rowsOf(browser: Browser): readonly (readonly [string, ReactNode])[] {
  const { conditions, location, viewport, profile, pool, memory, region, placement, tags } = browser;
  const { chrome_policy, disconnect_timeout_seconds: disconnect, max_duration_seconds, sleep_after_seconds } = browser;
  return [
    ["Name", browser.name],
    ["Tags", tags && Object.keys(tags).length > 0 ? <TagList tags={tags} /> : undefined],
    ["Created by", createdBy(browser)],
    ["Start page", browser.start_url],
    ["Window", browser.headless ? "Without a window (headless)" : "With a window"],
    ["Kiosk mode", browser.kiosk_mode === true && "On: the page alone, without address bar and tabs"],
    ["Size", viewport && sizeOf(viewport)],
    ["Stealth", browser.stealth ? "On" : "Off"],
    ["Timeout without use", durationText(browser.timeout_seconds * 1000)],
    ["Maximum duration", max_duration_seconds === undefined ? "No limit" : durationText(max_duration_seconds * 1000)],
    ["Ends without clients after", disconnect !== undefined && durationText(disconnect * 1000)],
    ["Sleeps without use after", sleep_after_seconds ? durationText(sleep_after_seconds * 1000) : "Never"],
    ["Profile", profile && (profile.name ?? profile.id)],
    ["Changes of the profile", profile && (browser.profile_save_changes === true ? "Saved at the end" : "Discarded")],
    ...networkRows(browser),
    ["Pool", pool && (pool.name ?? pool.id)],
    ["Time zone", location?.timezone],
    ["Language", location?.locale],
    ["Permissions", conditions?.permissions?.map(permissionText).join(", ")],
    ["Color scheme", conditions?.color_scheme],
    ["Motion", conditions?.reduced_motion],
    ["Position", positionText(conditions?.geolocation)],
    ["Memory limit", memory?.replace(/(\d)(?=[A-Z])/, "$1 ")],
    ["Region", region],
    ["Isolation", placement === "process" ? "None (process)" : placement],
    ["Video from the start", browser.recording && (browser.recording.video === true ? "On" : "Off")],
    ["Telemetry", browser.deleted_at === undefined ? telemetryText(browser) : undefined],
    [
      "Chrome policies",
      chrome_policy && <CodeBlock code={JSON.stringify(chrome_policy, undefined, 2)} label="Chrome policies" />,
    ],
  ];
}

function createdBy({ origin }: Browser): string | undefined {
  if (origin === undefined) return undefined;
  return origin.dialect === "render" ? "A call that renders one page" : `A client of ${origin.dialect}`;
}

function sizeOf({ height, refresh_rate, width }: NonNullable<Browser["viewport"]>): string {
  return `${width} × ${height}${refresh_rate === undefined ? "" : ` at ${refresh_rate} Hz`}`;
}

type Conditions = NonNullable<Browser["conditions"]>;

function permissionText({ name, origin, setting }: NonNullable<Conditions["permissions"]>[number]): string {
  return `${name} ${setting}${origin === undefined ? "" : ` for ${origin}`}`;
}

function positionText(position: Conditions["geolocation"]): string | undefined {
  return position && `${String(position.latitude)}, ${String(position.longitude)}`;
}

function networkRows({ network, proxy, proxy_id, web_bot_auth: bot }: Browser): [string, ReactNode][] {
  return [
    ["Proxy", proxy?.name ?? proxy_id ?? (proxy?.mode === "direct" ? "None (direct)" : undefined)],
    ["Allowed hosts", hostsOf(network?.allow)],
    ["Denied hosts", hostsOf(network?.deny)],
    ["Only hosts that anything reaches", hostsOf(network?.allowed_hosts)],
    [
      "Proxy routes",
      network?.proxy_routes
        ?.map(({ hosts, proxy: { id, name } }) => `${hosts.join(", ")} by ${name ?? id ?? ""}`)
        .join("; "),
    ],
    [
      "Headers with stored values",
      network?.headers?.map(({ hosts, name }) => `${name} for ${hosts.join(", ")}`).join("; "),
    ],
    ["HTTP authentication", hostsOf(network?.http_auth?.flatMap(({ hosts }) => hosts))],
    ["Reachable private hosts", hostsOf(network?.private_hosts)],
    [
      "Signed requests",
      bot?.enabled === true && `Web Bot Auth${bot.sign_only ? ` for ${bot.sign_only.join(", ")}` : ""}`,
    ],
  ];
}

const hostsOf = (hosts: readonly string[] | undefined): string | undefined =>
  hosts?.length === 0 ? "None" : hosts?.join(", ");

function telemetryText({ telemetry }: Browser): string {
  const captured = Object.entries(telemetry?.browser ?? {}).flatMap(([name, category]) =>
    category?.enabled === true ? [name] : [],
  );
  const text = captured.length === 0 ? "Off" : captured.join(", ");
  const destination = telemetry?.export?.otlp?.destination;
  return destination === undefined ? text : `${text}; sent to ${destination}`;
}

function TagList({ tags }: { readonly tags: Readonly<Record<string, string>> }) {
  return (
    <Group gap={4}>
      {Object.entries(tags).map(([key, value]) => (
        <Badge key={key} variant="light" color="gray" tt="none">
          {key}={value}
        </Badge>
      ))}
    </Group>
  );
}
