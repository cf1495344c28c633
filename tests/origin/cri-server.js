// SPDX-License-Identifier: BSD-2-Clause
// cri-server.js MODULES SOCKET LIST: a container runtime for tests, by Google's gRPC library. LIST has a line for each
// container: ID NAMESPACE POD CONTAINER; it is read for each request, so that containers come and go. Prints
// "listening", then a line for each request: the id that was wanted. Modes, as the last argument: hang (never
// answers), refuse (as where the interface is switched off), large (8 MiB of annotations).
const [, , modules, socket, list, mode] = process.argv;
const fs = require('fs');
const grpc = require(modules + '/@grpc/grpc-js');
const loader = require(modules + '/@grpc/proto-loader');
const definition = loader.loadSync(__dirname + '/cri-server.proto', { keepCase: true });
const { RuntimeService } = grpc.loadPackageDefinition(definition).runtime.v1;

function container(line) {
  const [id, namespace, pod, name] = line.split(' ');
  return {
    id, pod_sandbox_id: id.replace(/./g, 'e'), metadata: { name, attempt: 3 }, image: { image: 'registry.example/image' },
    image_ref: 'sha256:0', state: 'CONTAINER_RUNNING', created_at: '1700000000000000000',
    labels: {
      app: 'train', 'io.kubernetes.container.name': name, 'io.kubernetes.pod.name': pod,
      'io.kubernetes.pod.namespace': namespace, 'io.kubernetes.pod.uid': 'b1f4d3a0-0000-4000-8000-000000000000',
    },
    annotations: { note: mode === 'large' ? 'x'.repeat(8 << 20) : 'x'.repeat(40000) },
  };
}

function listContainers(call, callback) {
  const id = call.request.filter && call.request.filter.id;
  console.log(id);
  if (mode === 'hang') return;
  if (mode === 'refuse') {
    callback({ code: grpc.status.UNIMPLEMENTED, details: 'unknown service runtime.v1.RuntimeService' });
    return;
  }
  const lines = fs.readFileSync(list, 'utf8').split('\n').filter((line) => line);
  callback(null, { containers: lines.map(container).filter((found) => !id || found.id.startsWith(id)) });
}

const server = new grpc.Server();
server.addService(RuntimeService.service, { ListContainers: listContainers });
server.bindAsync('unix:' + socket, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  console.log('listening');
});
