// What is searched for, as it stands in the address, and as the gateway is asked.
// Times are local on the page and UTC everywhere else. Pure.
export const parts = ["q", "from", "to", "kind", "context", "subtree", "since", "until"];

// spans are times that end now: [what they are called, seconds].
export const spans = {
  "15m": ["Last 15 minutes", 900],
  "1h": ["Last hour", 3600],
  "24h": ["Last 24 hours", 86_400],
  "7d": ["Last 7 days", 604_800],
  "30d": ["Last 30 days", 2_592_000],
};

// asked are the names and values of GET …/envelopes. It throws an Error where a time
// cannot be read.
export function asked(address, now) {
  const given = [];
  for (const name of ["q", "from", "to", "kind", "context"]) {
    const value = address[name].trim();
    if (value) given.push([name, value]);
  }
  if (address.context && address.subtree === "true") given.push(["subtree", "true"]);
  if (spans[address.since]) given.push(["since", utc(now - 1000 * spans[address.since][1])]);
  else if (address.since) given.push(["since", utc(address.since)]);
  if (address.until) given.push(["until", utc(address.until)]);
  return given;
}

function utc(time) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) throw new Error(`“${time}” is no time.`);
  return date.toISOString();
}

// local is a time of the address for a field of local time.
export function local(time) {
  const date = new Date(time);
  if (!time || Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

// fromLocal is what such a field holds, for the address.
export function fromLocal(value) {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}
