// SPDX-License-Identifier: BSD-2-Clause
// kubernetes-schemas.mjs MODULES: checks each Kubernetes object on stdin (JSON, one a line) against its schema, of the
// packages kubernetes-models and @kubernetes-models/prometheus-operator; prints "valid KIND NAME", or what is wrong.
// The schemas accept fields that they do not know.
import { createInterface } from 'node:readline';

const modules = process.argv[2];
const homes = { 'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/monitoring.coreos.com' };
let wrong = 0;

async function validate(object) {
  const [version, group] = object.apiVersion.split('/').reverse();
  const home = homes[group] || 'kubernetes-models' + (group ? '/' + group : '');
  const module = await import(`${modules}/${home}/${version}/${object.kind}.js`);
  try {
    new module[object.kind](object).validate();
    console.log(`valid ${object.kind} ${object.metadata.name}`);
  } catch (error) {
    console.log(`${object.kind}: ${error.message}`);
    wrong++;
  }
}

for await (const line of createInterface({ input: process.stdin })) await validate(JSON.parse(line));
process.exit(wrong ? 1 : 0);
