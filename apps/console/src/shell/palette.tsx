import { Combobox, Modal, Text, TextInput, useCombobox } from "@mantine/core";
import "@mantine/core/styles/Combobox.css";
import { useDebouncedValue } from "@mantine/hooks";
import type { Browser } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { AppWindow, Search } from "lucide-react";
import { useEffect, useState } from "react";
import { useSignedIn } from "../api/shoal.ts";
import { StatusBadge } from "../parts/status.tsx";
import styles from "./palette.module.css";
import { useSections } from "./sections.ts";

const typingMs = 200;
const maxSessions = 8;

/** Finds a page or a session by its name, and opens it. */
export function Palette({ close }: { readonly close: () => void }) {
  return (
    <Modal opened onClose={close} title="Go to" transitionProps={{ duration: 0 }}>
      <Choices close={close} />
    </Modal>
  );
}

/** Inside of the dialog, so that its first option can be selected at once. */
function Choices({ close }: { readonly close: () => void }) {
  const [typed, setTyped] = useState("");
  const combobox = useCombobox({ opened: true });
  const navigate = useNavigate();
  const words = typed.trim().toLowerCase();
  const sections = useSections()
    .flatMap((group) => group.sections)
    .filter(({ label }) => label.toLowerCase().includes(words));
  const sessions = useFoundSessions(words);
  const shown = [...sections.map(({ to }) => to), ...sessions.map(({ session_id }) => session_id)].join(" ");
  const { selectFirstOption } = combobox;
  useEffect(() => {
    selectFirstOption();
  }, [selectFirstOption, shown]);
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(value) => {
        close();
        const [kind, target = ""] = value.split(" ");
        if (kind === "page") void navigate({ to: target });
        else void navigate({ to: "/sessions/$id", params: { id: target } });
      }}
    >
      <Combobox.EventsTarget>
        <TextInput
          aria-label="Go to a page or a session"
          placeholder="Page, or name or id of a session"
          leftSection={<Search size={16} aria-hidden />}
          value={typed}
          onChange={({ currentTarget: { value } }) => {
            setTyped(value);
          }}
          // The dialog leaves the key to the list, which is always open.
          onKeyDown={({ key }) => {
            if (key === "Escape") close();
          }}
          data-autofocus
        />
      </Combobox.EventsTarget>
      <Combobox.Options className={styles.options} aria-label="Pages and sessions">
        {shown === "" && <Combobox.Empty>Nothing found</Combobox.Empty>}
        {sections.map(({ icon: Icon, label, to }) => (
          <Combobox.Option key={to} value={`page ${to}`} className={styles.option}>
            <Icon size={17} aria-hidden />
            {label}
          </Combobox.Option>
        ))}
        {sessions.map((browser) => (
          <Combobox.Option key={browser.session_id} value={`session ${browser.session_id}`} className={styles.option}>
            <AppWindow size={17} aria-hidden />
            <Text inherit truncate className={styles.name}>
              {browser.name ?? browser.session_id}
            </Text>
            <StatusBadge browser={browser} />
          </Combobox.Option>
        ))}
      </Combobox.Options>
    </Combobox>
  );
}

/** Running and ended ones; none before something is typed. */
function useFoundSessions(words: string): readonly Browser[] {
  const { project, shoal } = useSignedIn();
  const [query] = useDebouncedValue(words, typingMs);
  const { data = [] } = useQuery({
    queryKey: ["browsers", project?.id, "palette", query],
    queryFn: async ({ signal }) =>
      (await shoal.browsers.list({ query, status: "all", limit: maxSessions }, { signal })).items,
    enabled: query !== "",
  });
  // Enter opens a result for the present words.
  return words === "" || query !== words ? [] : data;
}
