import { Link } from "@tanstack/react-router";
import { BookOpen, Braces } from "lucide-react";
import { useId } from "react";
import { useSignedIn } from "../api/shoal.ts";
import { serviceUrl } from "../base/place.ts";
import styles from "./navigation.module.css";
import { type Section, type SectionGroup, useSections } from "./sections.ts";

export function Navigation() {
  const visible = useSections();
  return (
    <nav className={styles.groups} aria-label="Main">
      {visible.map((group, index) => (
        <Group key={index} {...group} />
      ))}
      <DocumentationLinks />
    </nav>
  );
}

function Group({ name, sections }: SectionGroup) {
  const id = useId();
  return (
    <div>
      {name !== undefined && (
        <div id={id} className={styles.name}>
          {name}
        </div>
      )}
      <ul className={styles.list} {...(name !== undefined && { "aria-labelledby": id })}>
        {sections.map((section) => (
          <li key={section.to}>
            <SectionLink {...section} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function SectionLink({ to, label, icon: Icon }: Section) {
  return (
    <Link to={to} className={styles.link} activeOptions={{ exact: to === "/", includeSearch: false }}>
      <Icon size={17} aria-hidden />
      {label}
    </Link>
  );
}

/** Outside of the router. */
function DocumentationLinks() {
  const { project } = useSignedIn();
  const query = project === undefined ? "" : `?project=${encodeURIComponent(project.id)}`;
  return (
    <ul className={styles.list} aria-label="Documentation">
      <li>
        <a href={`${serviceUrl}/docs/`} className={styles.link}>
          <BookOpen size={17} aria-hidden />
          Docs
        </a>
      </li>
      <li>
        <a href={`${serviceUrl}/docs/api/${query}`} className={styles.link}>
          <Braces size={17} aria-hidden />
          API reference
        </a>
      </li>
    </ul>
  );
}
