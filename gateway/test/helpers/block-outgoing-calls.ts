// Loaded before a process under test (`node --import`): reports and blocks every connection to another machine.
import dns from "node:dns";
import net from "node:net";
import dgram from "node:dgram";

const isHere = (host: unknown) => ["127.0.0.1", "::1", "localhost", undefined].includes(host as string | undefined);

function report(how: string, host: unknown): Error {
  process.stderr.write(`OUTGOING ${how} ${String(host)}\n`);
  return Object.assign(new Error("blocked"), { code: "ENETUNREACH" });
}

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  const host = typeof first === "object" && first !== null ? (first as net.TcpSocketConnectOpts).host : second;
  if (isHere(host)) return connect.apply(this, args as never);
  process.nextTick(() => this.destroy(report("connection", host)));
  return this;
};

const lookup = dns.lookup;
dns.lookup = ((host: string, ...rest: unknown[]) => {
  if (isHere(host)) return (lookup as (...all: unknown[]) => void)(host, ...rest);
  const callback = rest.at(-1) as (error: Error) => void;
  process.nextTick(callback, report("lookup", host));
  return undefined;
}) as never;

const send = dgram.Socket.prototype.send;
dgram.Socket.prototype.send = function (this: dgram.Socket, ...args: unknown[]) {
  report(
    "datagram",
    args.find((argument) => typeof argument === "string"),
  );
  return (send as (...all: unknown[]) => void).apply(this, args);
} as never;
