// SPDX-License-Identifier: BSD-2-Clause
// decode.mjs MODULES pprof FILE: a pprof body as pprof-format reads it. decode.mjs MODULES otlp PROTO MESSAGE FILE: a request of
// OTLP as protobufjs reads it, checked by the rules of its dictionary. Both print a line for each stack, outermost function
// first, with the sums of its values; otlp also the resources and the files of functions. decode.mjs MODULES metrics PROTO MESSAGE
// FILE: a line for each point.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gunzipSync } from "node:zlib";

const [modules, kind, ...rest] = process.argv.slice(2);
const load = createRequire(`${modules}/`);
const fail = (what) => {
  console.log(`wrong: ${what}`);
  process.exitCode = 1;
};

function printSums(sums) {
  for (const [stack, values] of [...sums].sort()) console.log("stack", stack, values.join(" "));
}

function add(sums, stack, at, value) {
  const values = sums.get(stack) ?? [0n, 0n];
  values[at] += BigInt(value);
  sums.set(stack, values);
}

function pprof(file) {
  const { Profile } = load("pprof-format");
  const profile = Profile.decode(gunzipSync(readFileSync(file)));
  const text = (i) => profile.stringTable.strings[Number(i)];
  const by = (list) => new Map(list.map((one) => [String(one.id), one]));
  const functions = by(profile.function), locations = by(profile.location), mappings = by(profile.mapping);
  const sums = new Map();
  for (const one of profile.sampleType) console.log("type", `${text(one.type)}/${text(one.unit)}`);
  for (const sample of profile.sample) {
    const names = sample.locationId.map((id) => {
      const location = locations.get(String(id));
      const mapping = mappings.get(String(location.mappingId));
      const address = BigInt(location.address);
      if (mapping && !(address >= BigInt(mapping.memoryStart) && address < BigInt(mapping.memoryLimit)))
        fail(`address ${address} is outside of its mapping`);
      if (mapping && !/^[0-9a-f]{40}$/.test(text(mapping.buildId))) fail("a mapping has no build id");
      return text(functions.get(String(location.line[0].functionId)).name);
    });
    const stack = names.reverse().join(";");
    if (sample.value.length !== profile.sampleType.length) fail("a sample has not one value for each type");
    sample.value.forEach((value, i) => add(sums, stack, i, value));
  }
  printSums(sums);
}

function checkTable(name, table, empty) {
  if (JSON.stringify(table[0]) !== JSON.stringify(empty)) fail(`${name}[0] is not empty: ${JSON.stringify(table[0])}`);
  const seen = new Set(table.map((one) => JSON.stringify(one)));
  if (seen.size !== table.length) fail(`${name} has equal elements`);
}

function otlp(proto, messageName, file) {
  const protobuf = load("protobufjs");
  const root = new protobuf.Root();
  if (process.env.OTEL_PROTOS) root.resolvePath = (_, target) => (target.startsWith("/") ? target : `${process.env.OTEL_PROTOS}/${target}`);
  root.loadSync(proto);
  const type = root.lookupType(messageName);
  const decoded = type.decode(gunzipSync(readFileSync(file)));
  const problem = type.verify(decoded);
  if (problem) fail(problem);
  const request = type.toObject(decoded, { longs: String, bytes: String, defaults: false });
  const tables = request.dictionary;
  const used = { string: new Set([0]), function: new Set([0]), location: new Set([0]), mapping: new Set([0]), attribute: new Set([0]), stack: new Set([0]) };
  const at = (name, index = 0) => {
    const table = tables[`${name}Table`];
    if (!(index >= 0 && index < table.length)) fail(`${name} ${index} is not in its table`);
    used[name].add(index);
    return table[index];
  };
  const attributes = (list = []) => Object.fromEntries(list.map((i) => {
    const one = at("attribute", i);
    return [at("string", one.keyStrindex), one.value.stringValue ?? Number(one.value.intValue ?? 0)];
  }));
  checkTable("string_table", tables.stringTable, "");
  for (const name of ["mapping", "location", "function", "attribute", "stack"]) checkTable(name, tables[`${name}Table`], {});
  const frame = (index) => {
    const location = at("location", index), line = location.lines[0], code = at("function", line.functionIndex);
    at("string", code.systemNameStrindex);
    const file = at("string", code.filenameStrindex), type = attributes(location.attributeIndices)["profile.frame.type"] ?? "-";
    if (location.mappingIndex) {
      const mapping = at("mapping", location.mappingIndex), address = BigInt(location.address);
      at("string", mapping.filenameStrindex);
      if (!/^[0-9a-f]{40}$/.test(attributes(mapping.attributeIndices)["process.executable.build_id.gnu"])) fail("a mapping has no build id");
      // protobufjs names fields as the proto file does.
      if (!(address >= BigInt(mapping.start ?? mapping.memoryStart) && address < BigInt(mapping.limit ?? mapping.memoryLimit)))
        fail(`address ${address} is outside of its mapping`);
    }
    if (file) console.log("function", at("string", code.nameStrindex), file, Number(line.line ?? 0));
    return `${type}:${at("string", code.nameStrindex)}`;
  };
  const sums = new Map();
  for (const resource of request.resourceProfiles) {
    const who = Object.fromEntries(resource.resource.attributes.map((one) => [one.key, one.value.stringValue ?? Number(one.value.intValue)]));
    console.log("resource", JSON.stringify(who));
    for (const { scope, profiles } of resource.scopeProfiles) {
      console.log("scope", scope.name);
      profiles.forEach((profile, i) => {
        const what = `${at("string", profile.sampleType.typeStrindex)}/${at("string", profile.sampleType.unitStrindex)}`;
        console.log("profile", what, profile.timeUnixNano, profile.durationNano);
        for (const sample of profile.samples) {
          const known = attributes(sample.attributeIndices);
          const isTimed = !what.startsWith("gpu_pc_samples/"); // PC samples are of no stream
          if (!("cuda.device" in known && "cuda.stream" in known === isTimed)) fail("a sample has no GPU or stream");
          if (sample.values.length !== 1) fail("a sample has not one value");
          add(sums, at("stack", sample.stackIndex).locationIndices.map(frame).reverse().join(";"), i, sample.values[0]);
        }
      });
    }
  }
  for (const [name, set] of Object.entries(used))
    if (set.size !== tables[`${name}Table`].length) fail(`${tables[`${name}Table`].length - set.size} elements of ${name}_table are not used`);
  printSums(sums);
}

// Names of published files differ in part from those of receiver.proto.
function metrics(proto, messageName, file) {
  const protobuf = load("protobufjs");
  const root = new protobuf.Root();
  if (process.env.OTEL_PROTOS) root.resolvePath = (_, target) => (target.startsWith("/") ? target : `${process.env.OTEL_PROTOS}/${target}`);
  root.loadSync(proto);
  const type = root.lookupType(messageName);
  const request = type.toObject(type.decode(gunzipSync(readFileSync(file))), { longs: String });
  const values = (list = []) => list.map((one) => `${one.key}=${one.value.stringValue ?? Number(one.value.intValue)}`).join(",");
  for (const { resource, scopeMetrics } of request.resourceMetrics)
    for (const metric of scopeMetrics[0].metrics) {
      const data = metric.gauge ?? metric.sum ?? metric.histogram;
      const kind = metric.gauge ? "gauge" : metric.histogram ? "histogram" : (data.monotonic ?? data.isMonotonic) ? "counter" : "sum";
      for (const point of data.points ?? data.dataPoints)
        console.log(metric.name, metric.unit, kind, data.temporality ?? data.aggregationTemporality ?? "-",
          point.asDouble ?? point.asInt ?? `${point.count} ${point.sum}`, values(point.attributes), values(resource.attributes));
    }
}

({ pprof, otlp, metrics })[kind](...rest);
