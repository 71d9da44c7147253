// What this server is, and what whoever looks may do.
import {get} from "./api.js";

export const session = {version: "", readOnly: false, role: "operate"};

export async function sessionRead() {
  const health = await get(["health"]);
  Object.assign(session, {version: health.version, readOnly: health.read_only, role: health.role ?? "operate"});
  document.body.dataset.role = session.readOnly ? "read" : session.role;
}

export const mayOperate = () => !session.readOnly && session.role === "operate";
export const mayEnqueue = () => !session.readOnly && !["read", "work"].includes(session.role);
export const mayRead = () => !["enqueue", "work"].includes(session.role);
/** A run whose id is known. */
export const mayReadRun = () => session.role !== "work";
